"""How what a user waits for grows with the graph: each stage, on graphs of several shapes.

    python -m tests.bench.scaling [SHAPE…] [--sizes 1000,10000] [--figure FILE.svg]

prints, for each shape, the CPU seconds of each stage at each size, and the exponent between the
last two sizes: 1 grows as the graph does, 2 as its square. With --figure it draws them, too.
"""

from __future__ import annotations

import gc
import math
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Generic, TypeVar

from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import Document
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.host.program_reports import program_info
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.tensorflow.graphdef_export import to_pb
from gradstep.core.io.tensorflow.graphdef_import import from_pb
from gradstep.core.ops.typing.inference import infer
from gradstep.core.program.derive import derive
from tests.bench.choices import say
from tests.bench.growth_figure import figure
from tests.bench.shapes import SHAPES
from tests.bench.sized import answer, parser_of

SIZES = (1_000, 10_000)
Tables = dict[str, dict[int, dict[str, float]]]  # shape -> size -> stage -> CPU seconds
_SHORT = 0.02  # seconds, under which an exponent is noise
_T = TypeVar("_T")
_Cost = TypeVar("_Cost")


def cpu_seconds(work: Callable[[], object]) -> float:
    """That `work` takes."""
    gc.collect()
    start = time.process_time()
    work()
    return time.process_time() - start


class Stages(Generic[_Cost]):
    """What there is to wait for, in its order. costs: of each stage, as `measure` finds them, which
    is called with work that is to be done once."""

    def __init__(
        self, document: Document, measure: Callable[[Callable[[], object]], _Cost]
    ) -> None:
        self.costs: dict[str, _Cost] = {}
        self._measure = measure
        data = self._timed("write", lambda: gradstep_file.to_bytes(document, readable=False))
        drawn = self._timed("read", lambda: gradstep_file.from_bytes(data))
        self._timed("infer", lambda: infer(Graph(dict(drawn.graph.operations))))
        program = self._timed("derive", lambda: derive(drawn))
        session = self._timed("compile", lambda: DebugSession(program))
        self._timed("report", lambda: program_info(session))
        for run in ("first run", "second run", "steady run"):
            self._timed(run, session.continue_)
        armed = _armed(session)
        self._timed("breakpoints", lambda: session.set_breakpoints(armed))
        session.set_breakpoints(())
        session = self._edited("stop", _with_a_stop(drawn), session)
        self._edited("undo", drawn, session)
        self._timed("fast run", lambda: _run_fast(program))
        pb = self._timed("write pb", lambda: to_pb(drawn))
        self._timed("read pb", lambda: from_pb(pb))

    def _edited(self, name: str, edited: Document, session: DebugSession) -> DebugSession:
        """To derive and compile again, and the run after it."""
        before = session.program
        program = self._timed(f"{name}: derive", lambda: derive(edited, previous=before))
        after = self._timed(f"{name}: compile", lambda: DebugSession(program, before=session))
        self._timed(f"{name}: run", after.continue_)
        return after

    def _timed(self, stage: str, work: Callable[[], _T]) -> _T:
        done: list[_T] = []
        self.costs[stage] = self._measure(lambda: done.append(work()))
        return done[0]


def _with_a_stop(document: Document) -> Document:
    """At the middle one of those operations that there are most of, by their names without the
    number of the block that they are in, or that they are themselves."""
    alike: dict[str, list[str]] = {}
    for op in document.graph:
        if op.inputs:
            scope, _, last = op.name.rpartition("/")
            name = f"{_unnumbered(scope)}/{last}" if scope else _unnumbered(last)
            alike.setdefault(name, []).append(op.name)
    names = max(alike.values(), key=len)
    stops = frozenset({TensorRef(names[len(names) // 2])})
    return document.with_(request=replace(document.request, stops=stops))


def _unnumbered(name: str) -> str:
    return re.sub(r"_?\d+", "", name)


def _run_fast(program: Program) -> None:
    session = Session(program.graph, initial=program.initial, fast=True)
    session.values(program.fetches, program.feeds, program.targets)


def _armed(session: DebugSession) -> list[Breakpoint]:
    """One with a condition at every tenth step, and one of each other kind."""
    steps = [step.op for step in session.plan.steps]
    middle = steps[len(steps) // 2]
    others = {
        BreakpointKind.TYPE: middle.type,
        BreakpointKind.SCOPE: next((op.scope for op in steps if op.scope), "none"),
        BreakpointKind.PHASE: middle.phase.value,
        BreakpointKind.GRADIENT: middle.name,
    }
    return [
        *(Breakpoint(op.name, condition="norm(value) > 1e9") for op in steps[::10]),
        *(Breakpoint(target, kind) for kind, target in others.items()),
    ]


def exponent(seconds: Mapping[int, float]) -> float | None:
    """Of the growth between the last two sizes; None where there is too little to tell."""
    sizes = sorted(seconds)[-2:]
    if len(sizes) < 2 or seconds[sizes[1]] < _SHORT:
        return None
    first, last = (max(seconds[size], 1e-4) for size in sizes)
    return math.log(last / first) / math.log(sizes[1] / sizes[0])


def table(found: Mapping[int, Mapping[str, float]]) -> str:
    """One shape's stages, one a line."""
    sizes = sorted(found)
    lines = [f"{'':16}" + "".join(f"{size:>10,}" for size in sizes) + "  exponent"]
    for stage in found[sizes[0]]:
        seconds = {size: found[size][stage] for size in sizes}
        grows = exponent(seconds)
        cells = "".join(f"{seconds[size]:10.4f}" for size in sizes)
        lines.append(f"{stage:16}{cells}  {'' if grows is None else f'{grows:8.2f}'}")
    return "\n".join(lines)


def measured(shapes: Sequence[str], sizes: Sequence[int]) -> Tables:
    """CPU seconds by shape, size and stage."""
    tables: Tables = {}
    for name in shapes:
        draw = SHAPES[name]
        Stages(draw(min(sizes) // 10), cpu_seconds)  # imports are no part of it
        for size in sizes:
            say(f"{name}, {size:,} operations")
            tables.setdefault(name, {})[size] = Stages(draw(size), cpu_seconds).costs
    return tables


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_of("tests.bench.scaling", __doc__, SIZES, SHAPES)
    parser.add_argument("--figure", type=Path, metavar="FILE.svg", help="draw them there")
    options = parser.parse_args(arguments)
    found = measured(options.shapes or [*SHAPES], options.sizes)
    if options.figure is not None:
        options.figure.write_text(figure(found))
    tables = ((name, table(stages)) for name, stages in found.items())
    return answer(options.json, {"seconds": found}, tables)


if __name__ == "__main__":
    sys.exit(main())
