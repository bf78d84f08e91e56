"""What an op reads or touches that is neither input nor output: variables, counters, state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gradstep.core.graph.model import Operation
from gradstep.core.ops.state.opaque_state import OpaqueState

First = Callable[[Operation], OpaqueState]
Count = Callable[[Operation], int]
StateClass = type[OpaqueState]


@dataclass(frozen=True, slots=True)
class State:
    """Nothing: equal inputs give equal results.

    What a declared kind says otherwise:

    stateful: TensorFlow's `is_stateful`: a result may hang on more than the inputs, or something
              happens besides.
    writes:   the inputs whose variables the op updates.
    counter:  it keeps a number from run to run; with `counts` as many as that says.
    first:    it declares state that is no array: what that holds before any run.
    per_run:  it works on the one object of this class that a run has.
    """

    stateful: bool = False
    writes: tuple[int, ...] = ()
    counter: bool = False
    first: First | None = None
    per_run: StateClass | None = None
    counts: Count | None = None

    def first_count(self, op: Operation) -> np.ndarray:
        """What an operation with a counter has counted before any run: int64."""
        shape = () if self.counts is None else (self.counts(op),)
        return np.zeros(shape, np.int64)


class Stateful(State):
    """What a result hangs on beside the inputs, or what happens, is no affair of the engine's: a
    variable read through its handle, Python that is called, text that is printed."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(stateful=True)


class Writes(State):
    """The op updates the variables behind these ref or resource inputs. The kernel gets the array
    that each holds, and returns their new values in this order, behind its outputs (see
    core/ops/declare/table.py)."""

    __slots__ = ()

    def __init__(self, writes: tuple[int, ...]) -> None:
        super().__init__(stateful=True, writes=writes)


class Counter(State):
    """The op keeps a number from run to run (how much of its random stream is used up): the kernel
    takes it, int64 and at first 0, as one more input on the host, and returns its new value after
    the outputs. counts: how many numbers an operation keeps, of which that is the first; by default
    that one alone, of rank 0."""

    __slots__ = ()

    def __init__(self, counts: Count | None = None) -> None:
        super().__init__(stateful=True, counter=True, counts=counts)


class Resource(State):
    """The op declares state that is no array (core/ops/state/opaque_state.py) and outlives runs, as
    a queue: its output is the handle, and `first(op)` what that holds before any run."""

    __slots__ = ()

    def __init__(self, first: First) -> None:
        super().__init__(stateful=True, first=first)


class PerRun(State):
    """All ops of a run that name this class of state work on one object of it, which is made
    without arguments when the run starts: the kernel takes it after its inputs, and returns the
    next one after its results."""

    __slots__ = ()

    def __init__(self, per_run: StateClass) -> None:
        super().__init__(per_run=per_run)
