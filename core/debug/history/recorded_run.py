"""A recorded run: what another framework, or a card, computed of a document's graph.

It is kept in the document, since it says of this very graph what came elsewhere: it is saved and
sent with it, follows a renamed operation, and is a device to compare with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gradstep.core.graph.model import Constant, TensorRef


@dataclass(frozen=True, slots=True, eq=False)
class RecordedIterations:
    """What a tensor in a loop was, each time that it was computed.

    places:    whole numbers [times, loops around]: the iteration of each loop around, the outermost
               first; ascending. Where a loop ends, its condition has one more than its body.
    values:    [times, …]. gradients: likewise, zeros where none came back; None for none at all.
    """

    places: Constant
    values: Constant
    gradients: Constant | None = None

    def time(self, iterations: Sequence[int]) -> int | None:
        """Which time it was, in these iterations; None where it was not computed there."""
        if self.places.array.shape[1:] != (len(iterations),):
            return None
        same = (self.places.array == np.asarray(iterations)).all(axis=1)
        return int(same.argmax()) if same.any() else None


@dataclass(frozen=True, slots=True, eq=False)
class RecordedRun:
    """source: who computed it ("torch 2.13.0"). of: the tensor whose gradients they are; "".
    epsilon: of the shortest element type that it was computed in, where the arrays here have
    another (bfloat16 is kept as float32); 0 where they have not.

    values:    tensor ("conv1/conv2d/Conv2D:0") -> what it was.
    gradients: tensor or variable -> the gradient that came back to it.
    iterations: tensor in a loop -> both, of each iteration.
    none:      those of them that had no gradient there.
    remarks:   variable -> in words, what its gradient does not follow from the graph alone.
    sources:   file -> its text. paths: file -> where it lay, if that is known.
    """

    source: str
    of: str = ""
    epsilon: float = 0.0
    values: Mapping[str, Constant] = field(default_factory=dict)
    gradients: Mapping[str, Constant] = field(default_factory=dict)
    iterations: Mapping[str, RecordedIterations] = field(default_factory=dict)
    none: frozenset[str] = frozenset()
    remarks: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)

    def told_of(self, ref: str, gradient_of: str = "") -> Constant | None:
        """What it was: of a tensor, or of the gradient that another tensor has in it here."""
        op = TensorRef.parse(gradient_of).op if gradient_of else ""
        places = (gradient_of, op) if gradient_of else ()
        found = (self.gradients[place] for place in places if place in self.gradients)
        return next(found, None) or self.values.get(ref)

    @property
    def can_be_compared_with(self) -> bool:
        """Whether anything is known of what was computed: a .pt2 has lines of source alone."""
        return bool(self.values or self.gradients or self.iterations)


def relabel_recorded(run: RecordedRun | None, name_of: Callable[[str], str]) -> RecordedRun | None:
    """The same of a graph whose operations have other names."""
    if run is None:
        return None

    def tensor(name: str) -> str:
        ref = TensorRef.parse(name)
        return str(TensorRef(name_of(ref.op), ref.index))

    return replace(
        run,
        of=tensor(run.of) if run.of else "",
        values={tensor(name): value for name, value in run.values.items()},
        gradients={tensor(name): value for name, value in run.gradients.items()},
        iterations={tensor(name): kept for name, kept in run.iterations.items()},
        none=frozenset(map(tensor, run.none)),
        remarks={name_of(name): text for name, text in run.remarks.items()},
    )
