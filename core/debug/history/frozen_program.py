"""What a debug session runs: one frozen program, derived from the user's document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.differentiate import Differentiation, Slices
from gradstep.core.autodiff.reverse.gradient_end import GradientEnd
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.debug.concurrency.thread_state import Thread
from gradstep.core.debug.history.batches import Batches
from gradstep.core.debug.history.frame import Losses
from gradstep.core.debug.history.recorded_run import RecordedRun
from gradstep.core.graph.model import Edge, Graph, TensorRef
from gradstep.core.graph.problems import Problem

NamedEdit = tuple[str, tuple[str, ...]]  # its kind, and what it is about


def _nothing() -> Mapping[Any, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Program:
    """Compared by identity: an edit of the document makes a new one.

    graph:     forward, gradient and update operations.
    forward:   the user's graph alone.
    request:   the gradients that were asked for; of several requests the first.
    gradients: tensor -> the tensor that holds its gradient; a tensor that is absent has None.
    slices:    tensor whose gradient is IndexedSlices -> the tensors that hold values and indices.
    edges:     wire -> the gradient tensor that flows back over it.
    blocked:   wire at which a gradient ends -> why.
    custom:    operation -> name of the gradient in force instead of its own.
    fetches:   tensors that every run computes, besides what `targets` need.
    targets:   operations that every run executes (updates among them).
    feeds:     tensor -> value given to every run; of what `batches` feed, that of run 0.
    batches:   what is fed that is other in each run; None for nothing.
    initial:   variable -> value before run 0, after `init` has run.
    init:      operation executed once before run 0; "" for none.
    slots:     variable -> its optimizer slot variables.
    functions: token -> Python function, for PyFunc.
    rules:     name -> Python function, for gradients that are overridden.
    threads:   what runs beside the main program.
    problems:  what is wrong with the document, said at its nodes.
    derived:   how the gradients came about, one for each thing that was differentiated, and last
               those that an imported graph holds already. Where several have a gradient of the
               same tensor, `gradients` has the first one's.
    remembered: those of before an edit, while they cannot be derived: for the edit after it.
    updates:   how the updates of each optimizer were made (an UpdateRecord of gradstep.core.train),
               by the number of the optimizer: for the edit after it. Of those that cannot be made
               now, how they were the last time.
    held:      operations that it was asked for, and does not run, as they wait.
    rates:     the learning rates of the optimizers that every run executes.
    recorded:  what another framework computed of the forward graph.
    edited:    the program after edits of the document that this one was derived from; raises
               GradstepError for one that cannot be made. None where there is no document.
    """

    graph: Graph
    forward: Graph
    request: GradientRequest = GradientRequest()
    gradients: Mapping[TensorRef, TensorRef] = field(default_factory=_nothing)
    slices: Mapping[TensorRef, Slices] = field(default_factory=_nothing)
    edges: Mapping[Edge, TensorRef] = field(default_factory=_nothing)
    blocked: Mapping[Edge, GradientEnd] = field(default_factory=_nothing)
    custom: Mapping[str, str] = field(default_factory=_nothing)
    fetches: Sequence[TensorRef] = ()
    targets: tuple[str, ...] = ()
    feeds: Mapping[TensorRef, np.ndarray] = field(default_factory=_nothing)
    batches: Batches | None = None
    initial: Mapping[str, np.ndarray] = field(default_factory=_nothing)
    init: str = ""
    slots: Mapping[str, tuple[str, ...]] = field(default_factory=_nothing)
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=_nothing)
    problems: tuple[Problem, ...] = ()
    threads: tuple[Thread, ...] = ()
    derived: tuple[Differentiation, ...] = ()
    remembered: tuple[Differentiation, ...] = ()
    updates: Mapping[int, Any] = field(default_factory=_nothing)
    held: tuple[str, ...] = ()
    rates: tuple[TensorRef, ...] = ()
    recorded: RecordedRun | None = None
    rules: Mapping[str, Callable[..., Any]] = field(default_factory=_nothing)
    edited: Callable[[Program, Sequence[NamedEdit]], Program] | None = None

    @property
    def is_cut(self) -> bool:
        """Whether it runs only a part of what it was asked for: the rest waits."""
        return bool(self.held)

    @property
    def losses(self) -> Losses:
        """`gradients` of each thing that is differentiated, by its name."""
        if not self.derived:
            return {name_of(self.request.of): self.gradients} if self.gradients else {}
        return {name: one.gradients for name, one in named(self.derived)}


def named(derived: Iterable[Differentiation]) -> Iterator[tuple[str, Differentiation]]:
    """Each by a name of its own: what it differentiates, and for an imported graph's where it has
    done so, when that has been done before."""
    taken: set[str] = set()
    for one in derived:
        name = name_of(one.of)
        name = f"{name} in {one.imported}" if name in taken else name
        taken.add(name)
        yield name, one


def name_of(of: Iterable[TensorRef]) -> str:
    """What is differentiated, as people write it: "loss", "a + b"."""
    return " + ".join(ref.short for ref in of)
