"""A program run in each of the engine's ways, and all that a user can see of it, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

import numpy as np

from gradstep.core.debug.history.frame import Frame
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.stopped_state import Reason
from gradstep.core.engine.passes import pass_pipeline
from gradstep.core.engine.plan.steps import storage_name
from gradstep.core.engine.plan.why_dead import without_value
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.engine.run.variable_store import uninitialised_error
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Graph, Operation, TensorRef

Arrays = Mapping[TensorRef, np.ndarray]
Bits = tuple[str, tuple[int, ...], Any]
RUNS = 3
PASSES = tuple(pass_pipeline.PASSES)
EXACT = tuple(p.name for p in PASSES if not p.differs)  # of the others see test_rounding


@dataclass(frozen=True, eq=False, repr=False)
class Case:
    """What is run. feeds: of every run; the same keys, types and shapes in all."""

    graph: Graph
    fetches: tuple[TensorRef, ...]
    targets: tuple[str, ...] = ()
    feeds: Arrays = field(default_factory=dict)
    initial: Mapping[str, np.ndarray] = field(default_factory=dict)
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Short: what a failing test prints."""
        ops = (f"{op.name} = {op.type}({_wires(op)})" for op in self.graph)
        lists = (f"fetch {[*map(str, self.fetches)]} targets {self.targets}", f"feed {self.feeds}")
        return "\n".join([*ops, *lists, f"initial {self.initial}"])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(f"\n{self!r}")

    @property
    def program(self) -> Program:
        """The same, to be debugged."""
        return Program(
            graph=self.graph,
            forward=self.graph,
            fetches=self.fetches,
            targets=self.targets,
            feeds=self.feeds,
            initial=self.initial,
            functions=self.functions,
        )

    def fetching(self, fetches: Sequence[TensorRef]) -> Case:
        return replace(self, fetches=tuple(fetches))


def _wires(op: Operation) -> str:
    attrs = [f"{k}={v}" for k, v in op.attrs.items() if k not in ("dtype", "shape")]
    return ", ".join([*map(str, op.inputs), *(f"^{n}" for n in op.control_inputs), *attrs])


@dataclass(frozen=True)
class Seen:
    """What a run showed: its fetches, or the error that ended it, and the variables after it."""

    fetched: Mapping[TensorRef, Bits]
    error: str
    variables: Mapping[str, Bits]


def bits(array: Any) -> Bits:
    """What must be equal. Of a NaN only that it is one: where two meet, NumPy passes on the sign of
    the first or of the second, as they lie in memory."""
    array = np.asarray(array)
    if array.dtype.kind in "fc":
        array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
    content = array.tolist() if array.dtype.hasobject else array.tobytes()
    return array.dtype.str, array.shape, content


def session(case: Case, fast: bool) -> Session:
    return Session(case.graph, None, case.functions, case.initial, fast=fast)


def run_once(on: Session, case: Case, feeds: Arrays | None = None) -> Seen:
    """One run of `case` by a session of its graph."""
    found: dict[TensorRef, Bits] = {}
    error = ""
    try:
        values = on.run(case.fetches, case.feeds if feeds is None else feeds, case.targets)
        found = {ref: bits(value) for ref, value in zip(case.fetches, values, strict=True)}
    except GradstepError as failure:
        error = _text(failure)
    return Seen(found, error, {name: bits(value) for name, value in _kept(on)})


def _kept(on: Session) -> Iterator[tuple[str, np.ndarray]]:
    """Variables with a value; a counter that never counted is as good as none."""
    for name in sorted(on.store):
        value = on.backend.get(on.store[name])
        if not name.endswith(":counter") or value.any():
            yield name, value


def run(case: Case, fast: bool, runs: int = RUNS) -> list[Seen]:
    on = session(case, fast)
    return [run_once(on, case) for _ in range(runs)]


@contextmanager
def passes(names: Collection[str]) -> Iterator[None]:
    """Fast plans are made by these passes alone, in their order."""
    with patch.object(pass_pipeline, "PASSES", tuple(p for p in PASSES if p.name in names)):
        yield


def debugged(case: Case, runs: int = RUNS) -> list[Seen]:
    """What the debugger shows of the runs: of each at its end, when all are over. A run that
    fails is the last."""
    debugger = DebugSession(case.program)
    if not debugger.plan.steps:
        return []
    while True:
        stop = debugger.continue_()
        if stop.reason is Reason.EXCEPTION or stop.run + 1 == runs:
            break
    return [_shown(debugger, case, number) for number in range(stop.run + 1)]


def _shown(debugger: DebugSession, case: Case, number: int) -> Seen:
    stop = debugger.stop
    last = number == stop.run
    frame = debugger.frame(number, stop.step if last else debugger.timeline.length)
    failure = stop.error if last else None
    fetched = {} if failure else {ref: frame.value(ref) for ref in case.fetches}
    if any(x is None or frame.dead(ref) for ref, x in fetched.items()):
        failure, fetched = _without_value(debugger, frame, fetched), {}
    names = {storage_name(op): op.output() for op in case.graph if op.type in _VARIABLES}
    values = {name: frame.value(ref) for name, ref in names.items()}
    return Seen(
        {ref: bits(x) for ref, x in fetched.items()},
        _text(failure) if failure else "",
        {n: bits(x) for n, x in values.items() if x is not None},
    )


def _without_value(
    debugger: DebugSession, frame: Frame, fetched: Mapping[TensorRef, Any]
) -> GradstepError:
    """A session's error for the first fetch that is dead, or a variable without a value."""
    lacking = ((i, ref) for i, ref in enumerate(fetched) if fetched[ref] is None or frame.dead(ref))
    number, ref = next(lacking)
    dead = frame.dead(ref)
    if dead is not None:
        return without_value(number, ref, dead)
    name = debugger.plan.tensors[ref]
    return uninitialised_error(None, str(name), debugger.plan.variables[str(name)])


def _text(failure: GradstepError) -> str:
    return f"{failure.kind} at {failure.node}: {failure.message}"


_VARIABLES = ("VariableV2", "VarHandleOp")


def assert_same(want: Sequence[Seen], have: Sequence[Seen], what: str = "") -> None:
    """Equal bits in every run."""
    assert len(want) == len(have), what
    for number, (a, b) in enumerate(zip(want, have, strict=True)):
        where = f"{what} run {number}"
        assert a.error == b.error, where
        _assert_equal(a.fetched, b.fetched, where)
        _assert_equal(a.variables, b.variables, where)


def _assert_equal(want: Mapping[Any, Bits], have: Mapping[Any, Bits], where: str) -> None:
    assert set(want) == set(have), where
    for name in want:
        if want[name] != have[name]:
            raise AssertionError(f"{where}: {name}\n{array_of(want[name])}\n{array_of(have[name])}")


def array_of(found: Bits) -> Any:
    dtype, shape, content = found
    if isinstance(content, list):
        return content
    return np.frombuffer(content, dtype).reshape(shape)


def check(
    case: Case, runs: int = RUNS, debug: bool = True, want: list[Seen] | None = None
) -> list[Seen]:
    """Record and fast layout, and the debugger, show the same; what that is. want: what the record
    layout shows in so many runs, where that is known."""
    want = want or run(case, fast=False, runs=runs)
    with passes(EXACT):
        assert_same(want, run(case, fast=True, runs=runs), "fast")
    if debug:
        shown = debugged(case, runs)
        held = [_without_counters(each) for each in want[: len(shown)]]
        assert_same(held, shown, "debugger")
    return want


def _without_counters(seen: Seen) -> Seen:
    kept = {n: x for n, x in seen.variables.items() if not n.endswith(":counter")}
    return replace(seen, variables=kept)
