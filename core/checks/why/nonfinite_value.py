"""Why a value is NaN or infinite: the step that made the first one, and from what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.checks.why.explanation_words import Index
from gradstep.core.checks.why.nonfinite_origins import Maker, Search
from gradstep.core.checks.why.operand_probes import others
from gradstep.core.checks.why.operand_trial import Wrong
from gradstep.core.checks.why.recorded_values import Given, Made, RecordedValue
from gradstep.core.checks.why.step_on_other_inputs import Again, by_place, pick_operands
from gradstep.core.engine.plan.steps import Step
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.graph.number_kinds import kind_of


@dataclass(frozen=True)
class Origin:
    """Where a number came from that is NaN, infinite, or zero.

    made:     the step's result, or what was there before all.
    index:    the element of it.
    cause:    one of gradstep.core.checks.why.cause_table.
    operand:  which of the step's operands is to blame, if one is; operand_index: its element.
    inputs:   what it read.
    kind:     "NaN", "infinity" or "zero".
    way:      operations from it to where it was looked for, with the numbers of their runs.
    """

    made: Made | Given
    index: Index
    cause: str
    kind: str
    operand: int | None = None
    inputs: tuple[Any, ...] = ()
    operand_index: Index | None = None
    way: tuple[tuple[int, Operation], ...] = ()

    @property
    def op(self) -> Operation | None:
        return self.step.op if isinstance(self.made, Made) else None

    @property
    def step(self) -> Step:
        assert isinstance(self.made, Made)
        return self.made.ran.plan.steps[self.made.step]

    @property
    def tensor(self) -> TensorRef:
        """What people know it by."""
        return self.made.ran.tensor(self.made.index)


def origins(again: Again, value: RecordedValue, at: Index | None = None) -> list[Origin]:
    """What made a NaN of `value`, or an infinity where it has no NaN: the first one of all that
    lead there. Before it what made the infinities, where it made its NaN of such; but infinities
    that nobody computed are meant. Empty where all is finite, or nothing that leads there is not.
    at: look at this element alone."""
    array = again.array(value.ran.held(value.index))
    if not isinstance(array, np.ndarray) or kind_of(array.dtype) not in "fc":
        return []
    only = None
    if at is not None:
        only = np.zeros(array.shape, bool)
        only[at] = True
    if not np.isnan(array if at is None else array[at]).any():
        infinite = _first(again, [value], np.isinf, "infinity", only)
        return [] if infinite is None else [infinite]
    found = _first(again, [value], np.isnan, "NaN", only)
    if found is None:
        return []
    if not isinstance(found.made, Made) or not _has_infinite(found.inputs):
        return [found]
    reads = found.step.reads
    infinite = _first(
        again, [RecordedValue(found.made.ran, i) for i in reads], np.isinf, "infinity"
    )
    if infinite is None or infinite.op is None or infinite.cause == "constant":
        return [found]
    return [infinite, found]


def _first(
    again: Again,
    values: Sequence[RecordedValue],
    wrong: Wrong,
    kind: str,
    only: np.ndarray | None = None,
) -> Origin | None:
    search = Search(again, wrong)
    for value in values:
        search.start(value, only)
    maker = search.first()
    return None if maker is None else _origin(again, maker, search, kind)


def _origin(again: Again, maker: Maker, search: Search, kind: str) -> Origin:
    made, index, way = maker.made, maker.index, tuple(search.way(maker))
    if isinstance(made, Given):
        return Origin(made, index, made.kind, kind, way=way)
    step = made.ran.plan.steps[made.step]
    inputs = tuple(again.inputs(made.ran, step))
    operand = _to_blame(again, step, inputs, made.output, maker, search.wrong)
    cause = _cause(step, inputs, maker, kind)
    return Origin(made, index, cause, kind, operand, inputs, way=way)


def _has_infinite(inputs: Sequence[Any]) -> bool:
    return any(
        isinstance(x, np.ndarray) and kind_of(x.dtype) in "fc" and np.isinf(x).any() for x in inputs
    )


# -- what is wrong there -----------------------------------------------------------------------


def _cause(step: Step, inputs: Sequence[Any], maker: Maker, kind: str) -> str:
    """The name of what is wrong: what the op declares; else that it is too large."""
    if step.op.type == "Const":
        return "constant"
    assert step.definition is not None
    own = inputs[: len(step.op.inputs)]
    here = _at_element(step, own, maker)
    for operands in (here, own):
        for cause, condition in step.definition.causes.breaks.items() if operands else ():
            if np.any(condition(*operands)):
                return cause
    if _has_infinite([np.asarray(x) for x in here or own]):
        return "infinities"
    return "overflow" if kind == "infinity" else "undefined"


def _at_element(step: Step, own: Sequence[Any], maker: Maker) -> list[Any]:
    """The operands of the first wrong element, where each comes from its place; else none."""
    if by_place(step):
        return [x if x.ndim == 0 else x[0] for x in pick_operands(own, _only(maker))]
    alike = all(isinstance(x, np.ndarray) and x.shape == maker.mask.shape for x in own)
    return [x[maker.index] for x in own] if alike else []


def _only(maker: Maker) -> np.ndarray:
    mask = np.zeros_like(maker.mask)
    mask[maker.index] = True
    return mask


def _to_blame(
    again: Again, step: Step, inputs: Sequence[Any], output: int, maker: Maker, wrong: Wrong
) -> int | None:
    """The operand of which another value would have given a finite number, or at least not a wrong
    one; of several the one that is 0, or the largest."""
    if not again.can_run(step):
        return None
    places = by_place(step)
    read = pick_operands(inputs, _only(maker)) if places else list(inputs)
    ranked = []
    for k, x in enumerate(read):
        if not isinstance(x, np.ndarray) or kind_of(x.dtype) not in "fc" or not x.size:
            continue
        tried = (again.run(step, [*read[:k], y, *read[k + 1 :]]) for y in others(x))
        found = [r[output] for r in tried if r is not None]
        results = [r.reshape(-1)[0] if places else r[maker.index] for r in found]
        if not all(wrong(r) for r in results):
            is_finite = any(np.isfinite(r) for r in results)
            ranked.append((not is_finite, not np.any(x == 0), -float(np.max(np.abs(x))), k))
    return min(ranked)[-1] if ranked else None
