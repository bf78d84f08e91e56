"""What an edit costs engine and window: as an edit, and as the whole document sent again.

    python -m tests.bench.edits [--sizes 1000,10000] [--json]

prints, of each edit of a training graph (variables in scopes, a constant that all layers read, a
group of all initial assignments, gradients by all variables): milliseconds of CPU time that the
window takes to say it and to understand the answer, those that the engine takes to do it, and the
bytes of both messages with their buffers. The smallest of several rounds. No process and no panel
is in it: see tests/bench/training.py for these.
"""

from __future__ import annotations

import gc
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document import document_edits
from gradstep.core.document.document import Document
from gradstep.core.garbage_collection import collect_rarely
from gradstep.core.graph.model import Constant
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_document import EngineDocument
from gradstep.core.host.engine_service import EngineService
from gradstep.core.host.followed_program import FollowedProgram
from gradstep.core.io.open_document import read
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.framing import Buffer, plain
from tests.bench import training_graph
from tests.bench.choices import say
from tests.bench.sized import answer, parser_of

SIZES = (1_000, 10_000)
ROUNDS = 3
COLUMNS = ("window ms", "engine ms", "request bytes", "reply bytes")
Costs = dict[str, float]  # by COLUMNS
Table = dict[int, dict[str, Costs]]  # size -> edit -> costs
_KEEP = m.Open(keep_position=True)
_T = TypeVar("_T")


def document(nodes: int) -> Document:
    """As TensorFlow leaves it, and with what the user asks of it."""
    with tempfile.TemporaryDirectory() as folder:
        drawn = read(training_graph.save(nodes, Path(folder)))
    request = GradientRequest.to(training_graph.LOSS, *training_graph.variables(nodes))
    return drawn.with_(request=request, feeds={"x:0": Constant(training_graph.FEED)})


def edits(before: Document, nodes: int) -> dict[str, Document]:
    """What it becomes, by the edit."""
    wire = training_graph.wire(nodes)
    far = Constant(training_graph.FEED * 2)
    return {
        "stop": document_edits.toggle_stop(before, wire),
        "new node": document_edits.add_operation(before, "Tanh", (0, 0))[0],
        "rename": document_edits.rename_operation(before, wire.op, f"{wire.op}_renamed"),
        "feed": before.with_(feeds={"x:0": far}),
    }


class Sides:
    """A window and an engine, and what passes between them."""

    def __init__(self) -> None:
        self.service = EngineService(CpuOnly())
        self.given, self.followed = EngineDocument(), FollowedProgram()

    def show(self, document: Document) -> Costs:
        """What it costs to let the engine go on with a document."""
        gc.collect()
        (request, sent), asking = _timed(lambda: self.given.give(document, _KEEP))
        asked = msgspec.msgpack.encode(request)
        (reply, received), working = _timed(
            lambda: self.service.handle(request, [*map(bytes, sent)])
        )
        answer, encoding = _timed(lambda: msgspec.msgpack.encode(reply, enc_hook=plain))
        _, reading = _timed(lambda: self._understand(answer, type(reply)))
        seconds = asking + reading, working + encoding
        sizes = (len(asked) + _size(sent), len(answer) + _size(received))
        numbers = (*(1000 * one for one in seconds), *map(float, sizes))
        return dict(zip(COLUMNS, numbers, strict=True))

    def _understand(self, answer: bytes, kind: type[m.Message]) -> None:
        self.followed.complete(msgspec.msgpack.decode(answer, type=kind))


def _timed(work: Callable[[], _T]) -> tuple[_T, float]:
    """What it gives, and the seconds of CPU time that it took."""
    start = time.process_time()
    found = work()
    return found, time.process_time() - start


def _size(buffers: Sequence[Buffer]) -> int:
    return sum(memoryview(buffer).nbytes for buffer in buffers)


def measured(nodes: int, rounds: int = ROUNDS) -> dict[str, Costs]:
    """The costs of each edit, of taking it back, and of a stop when all is sent again."""
    sides, before = Sides(), document(nodes)
    sides.show(before)
    found: dict[str, list[Costs]] = {}
    for _ in range(rounds):
        for name, after in edits(before, nodes).items():
            found.setdefault(name, []).append(sides.show(after))
            found.setdefault(f"{name} undone", []).append(sides.show(before))
        sides.given.forget()
        found.setdefault("stop, sent whole", []).append(sides.show(edits(before, nodes)["stop"]))
        sides.show(before)
    return {name: _least(costs) for name, costs in found.items()}


def _least(costs: Sequence[Costs]) -> Costs:
    return {column: min(each[column] for each in costs) for column in COLUMNS}


def table(found: Mapping[str, Costs]) -> str:
    """One size's edits, one a line."""
    lines = [f"{'':18}" + "".join(f"{column:>16}" for column in COLUMNS)]
    for name, costs in found.items():
        cells = (
            f"{costs[c]:16,.1f}" if c.endswith("ms") else f"{costs[c]:16,.0f}" for c in COLUMNS
        )
        lines.append(f"{name:18}{''.join(cells)}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser_of("tests.bench.edits", __doc__, SIZES).parse_args(arguments)
    collect_rarely()  # as the engine's process does
    measured(100, 1)  # imports are no part of it
    found: Table = {}
    for size in options.sizes:
        say(f"edits, {size:,} operations")
        found[size] = measured(size)
    tables = ((f"{size:,} operations", table(rows)) for size, rows in found.items())
    return answer(options.json, {"edits": found}, tables)


if __name__ == "__main__":
    sys.exit(main())
