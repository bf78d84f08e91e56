"""What the engine does about an edit, and how that grows with the graph: deriving, compiling and
beginning again, telling the window, for each kind of edit and for its undoing.

    python -m tests.bench.deriving [SHAPE…] [--sizes 1000,10000]

prints, for each shape, the CPU milliseconds of each stage of each edit at each size (the median of
some rounds), and the exponent between the last two sizes: 1 grows as the graph does.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gradstep.core.autodiff.reverse.gradient_request import Override, OverrideKind
from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.document import document_edits, request_edits, value_edits
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.garbage_collection import collect_rarely
from gradstep.core.graph.model import Constant, Edge, Operation, TensorRef
from gradstep.core.host.program_reports import report_stop
from gradstep.core.host.session_restore import begin
from gradstep.core.host.told_program import ToldProgram
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.derive import derive
from gradstep.core.program.runnable_part import drop_unfinished
from tests.bench import training_graph
from tests.bench.choices import say
from tests.bench.scaling import cpu_seconds, exponent
from tests.bench.shapes import chain, training, tree
from tests.bench.sized import answer, parser_of, row_of

SIZES = (1_000, 10_000, 50_000)
ROUNDS = 5
ARMED = 1_000  # breakpoints with a condition
# Seconds for the whole round trip of an edit, window and engine, and for setting the breakpoints.
TARGETS = {1_000: 0.016, 10_000: 0.060, 50_000: 0.150, 200_000: 0.500}
ARMING = {1_000: 0.010, 10_000: 0.030, 50_000: 0.100, 200_000: 0.400}
STEEPEST = 1.1  # exponent
Costs = dict[str, float]  # "edit: stage" -> CPU seconds
Tables = Mapping[str, Mapping[int, Costs]]  # by shape and size
_GROUP = "layers_done"


def network(ops: int) -> Document:
    """Trained as people train: layers in scopes that read one constant, a group that waits for all
    of them, variables with the slots of Adam."""
    drawn = training_graph.drawn(ops * training_graph.LAYER // 4)  # no assignments here
    build = GraphBuilder(drawn.graph)
    build.op("NoOp", name=_GROUP, control_inputs=[op.name for op in drawn.graph if _ends(op)])
    feeds = {"x:0": Constant(training_graph.FEED)}
    optimizer = Optimizer("Adam", {"learning_rate": 0.01})
    request = replace(drawn.request, of=(TensorRef(training_graph.LOSS),))
    return drawn.with_(graph=build.build(), request=request, optimizers=(optimizer,), feeds=feeds)


def _ends(op: Operation) -> bool:
    return op.type == "AddV2"


DRAWN = {"network": network, "chain": chain, "tree": tree, "training": training}


class Edits:
    """One of each kind, in the middle of a document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._names = [op.name for op in document.graph if _is_sum_or_product(op)]
        self._name = self._names[len(self._names) // 2]

    def all(self) -> dict[str, Document]:
        """Kind -> the document after it."""
        document, name = self._document, self._name
        override = Override("Sub", name, OverrideKind.OP)
        first = self._names[0]
        return {
            "nothing": document.with_(),
            "stop": request_edits.toggle_stop(document, Edge(name, 0)),
            "override": request_edits.set_override(document, override),
            "attribute": value_edits.set_attr(document, name, "_note", "seen"),
            "rename": document_edits.rename_operation(document, name, f"{name}_renamed"),
            "wire": document_edits.connect(document, TensorRef(first), Edge(name, 1)),
            "control": document_edits.add_control(document, name, first),
        }


def _is_sum_or_product(op: Operation) -> bool:
    return op.type in ("AddV2", "Mul") and len(op.inputs) == 2


class Engine:
    """What is open in it: a program, and its threads."""

    def __init__(self, document: Document) -> None:
        self._backend = NumpyBackend()
        self._program = drop_unfinished(derive(document))
        self._threads = begin(self._program, self._backend)
        self._told = ToldProgram()
        self._told.whole(self._threads.session)

    def cost(self, document: Document) -> Costs:
        """CPU seconds of each stage of opening the document in the place of the one before."""
        made: list[Program] = []
        begun: list[Scheduler] = []
        found = {
            "derive": cpu_seconds(
                lambda: made.append(derive(document, {}, previous=self._program))
            ),
            "finish": cpu_seconds(lambda: made.append(drop_unfinished(made[-1]))),
            "begin": cpu_seconds(
                lambda: begun.append(begin(made[-1], self._backend, before=self._threads))
            ),
        }
        found["tell"] = cpu_seconds(lambda: self._tell(begun[-1]))
        self._program, self._threads = made[-1], begun[-1]
        found["all"] = sum(found.values())
        return found

    def _tell(self, threads: Scheduler) -> None:
        """What the window hears of it."""
        self._told.change(threads.session)
        report_stop(threads)

    def run(self) -> None:
        """As the user does between two edits."""
        self._threads.command("continue_")

    def arm(self) -> float:
        """CPU seconds of setting many breakpoints with conditions."""
        names = [step.op.name for step in self._threads.session.plan.steps]
        chosen = names[:: max(1, len(names) // ARMED)][:ARMED]
        armed = [Breakpoint(name, condition="norm(value) > 1e9") for name in chosen]
        seconds = cpu_seconds(lambda: self._threads.set_breakpoints(armed))
        self._threads.set_breakpoints(())
        return seconds


def costs(document: Document, rounds: int) -> Costs:
    """The median of each stage, of each edit and of undoing it."""
    found: dict[str, list[float]] = {}
    engine = Engine(document)
    engine.run()
    for _ in range(rounds):
        for kind, edited in Edits(document).all().items():
            for name, asked in ((kind, edited), (f"undo {kind}", document)):
                for stage, seconds in engine.cost(asked).items():
                    found.setdefault(f"{name}: {stage}", []).append(seconds)
        found.setdefault("breakpoints", []).append(engine.arm())
    return {name: statistics.median(seconds) for name, seconds in found.items()}


def measured(shapes: Sequence[str], sizes: Sequence[int], rounds: int = ROUNDS) -> Tables:
    tables: dict[str, dict[int, Costs]] = {}
    for shape in shapes:
        draw: Callable[[int], Document] = DRAWN[shape]
        costs(draw(max(40, min(sizes) // 10)), 1)  # imports are no part of it
        for size in sizes:
            say(f"edits of {shape}, {size:,} operations")
            tables.setdefault(shape, {})[size] = costs(draw(size), rounds)
    return tables


def table(found: Mapping[int, Costs]) -> str:
    """One shape's stages, one a line, in milliseconds."""
    sizes = sorted(found)
    lines = [f"{'':24}" + "".join(f"{size:>10,}" for size in sizes) + "  exponent"]
    for name in found[sizes[0]]:
        grows = exponent({size: found[size][name] for size in sizes})
        cells = "".join(f"{1000 * found[size][name]:10.1f}" for size in sizes)
        lines.append(f"{name:24}{cells}  {'' if grows is None else f'{grows:8.2f}'}")
    return "\n".join(lines)


def rows(found: Tables) -> list[dict[str, Any]]:
    """All that was measured; what has a target, and whether it is met."""
    made: list[dict[str, Any]] = []
    for shape, by_size in found.items():
        for size, costs_of_size in by_size.items():
            for name, seconds in costs_of_size.items():
                target = TARGETS.get(size) if name.endswith(": all") else None
                target = ARMING.get(size) if name == "breakpoints" else target
                made.append(row_of(f"{shape}, {size:,} operations: {name}", seconds, target))
        for name in next(iter(by_size.values())):
            grows = exponent({size: by_size[size][name] for size in by_size})
            if grows is not None:
                made.append(row_of(f"{shape}: {name}: exponent", grows, STEEPEST))
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_of("tests.bench.deriving", __doc__, SIZES, DRAWN)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args(arguments)
    collect_rarely()  # as the engine's process does
    found = measured(options.shapes or [*DRAWN], options.sizes, options.rounds)
    tables = ((shape, table(stages)) for shape, stages in found.items())
    return answer(options.json, {"rows": rows(found)}, tables)


if __name__ == "__main__":
    sys.exit(main())
