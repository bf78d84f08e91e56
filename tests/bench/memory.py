"""What an opened graph takes of memory in the engine, and for what.

    python -m tests.bench.memory [SHAPE…] [--sizes 1000,10000] [--json]

opens a document, derives and compiles it, runs it once, finds what the next edit is made with, as
the engine does when nobody asks for anything, and prints, for each of its operations and for each
that was derived, the bytes of all that came to be, as tracemalloc counts them: by what was being
made (the stage), and by the line that took the memory. NumPy's arrays are among them. Last it runs
it again, four times, which is no part of the sums: for variables that change places there are calls
for either way, native tables of both, and the runs are kept.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import gradstep
from gradstep.core.document.document import Document
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.host.session_restore import begin
from gradstep.core.io.native import gradstep_file
from gradstep.core.program.derive import derive
from gradstep.core.program.runnable_part import drop_unfinished
from tests.bench.choices import say
from tests.bench.deriving import DRAWN
from tests.bench.sized import answer, parser_of

SIZES = (1_000, 10_000, 50_000)
DRAWN_TARGET, DERIVED_TARGET = 2_500, 1_000  # bytes an operation
AGAIN = "run again"  # a stage that is no part of the sums
_RUNS = 4
_LINES = 25  # of the source, those that took the most
_PACKAGE = f"{Path(gradstep.__file__).parent}/"


class Memory(NamedTuple):
    """drawn, derived: operations. stages: what was being made -> the bytes of it that stay. lines:
    where the memory was taken -> the bytes."""

    drawn: int
    derived: int
    stages: dict[str, int]
    lines: dict[str, int]

    @property
    def total(self) -> int:
        return sum(size for stage, size in self.stages.items() if stage != AGAIN)

    def per_operation(self) -> dict[str, float]:
        """Bytes: of the document by drawn operation; of what was made of it by derived operation,
        where a drawn one counts as derived, too; all by drawn operation; and all as a multiple of
        what it should be."""
        document = self.stages["document"]
        every = self.drawn + self.derived
        return {
            "drawn": document / self.drawn,
            "derived": (self.total - document) / every,
            "all, by drawn": self.total / self.drawn,
            "of the target": self.total
            / (DRAWN_TARGET * self.drawn + DERIVED_TARGET * self.derived),
        }


def measured(document: Document) -> Memory:
    """Of the document as it is read from its file."""
    file = gradstep_file.to_bytes(document, readable=False)
    del document
    gc.collect()
    tracemalloc.start()
    stages: dict[str, int] = {}

    def note(stage: str) -> None:
        gc.collect()
        stages[stage] = tracemalloc.get_traced_memory()[0] - sum(stages.values())

    opened = gradstep_file.from_bytes(file)
    note("document")
    program = drop_unfinished(derive(opened))
    note("program")
    threads = begin(program, NumpyBackend())
    note("plan")
    threads.command("continue_")
    note("run")
    deque(threads.session.timeline.prepare_edit(), maxlen=0)
    note("next edit")
    lines = _lines()
    for _ in range(_RUNS):
        threads.command("continue_")
    note(AGAIN)
    tracemalloc.stop()
    return Memory(len(opened.graph), len(program.graph) - len(opened.graph), stages, lines)


def _lines() -> dict[str, int]:
    """Those that took the most of what there is now."""
    lines = tracemalloc.take_snapshot().statistics("lineno")[:_LINES]
    return {_place(line.traceback[0]): line.size for line in lines}


def _place(frame: tracemalloc.Frame) -> str:
    return f"{frame.filename.removeprefix(_PACKAGE)}:{frame.lineno}"


def table(found: Memory) -> str:
    """Stages, then lines, in bytes by operation."""
    every = found.drawn + found.derived
    lines = [f"{found.drawn:,} operations drawn, {found.derived:,} derived"]
    lines += [f"{name:16}{number:10.1f}" for name, number in found.per_operation().items()]
    lines.append(f"{'':50}{'a drawn':>10}{'one of all':>12}")
    for name, size in (*found.stages.items(), *found.lines.items()):
        lines.append(f"{name:50}{size / found.drawn:10.0f}{size / every:12.0f}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser_of("tests.bench.memory", __doc__, SIZES, DRAWN).parse_args(arguments)
    found: dict[str, Memory] = {}
    for shape in options.shapes or ["network"]:
        for size in options.sizes:
            say(f"memory of {shape}, {size:,} operations")
            found[f"{shape}, {size:,}"] = measured(DRAWN[shape](size))
    data = {name: one._asdict() | one.per_operation() for name, one in found.items()}
    return answer(options.json, data, ((name, table(one)) for name, one in found.items()))


if __name__ == "__main__":
    sys.exit(main())
