"""kill -9 of the engine at random moments of random walks: it comes back to the same place with the
same values.

A walk opens an example and moves, edits, and manages sessions and threads at random. The same
requests go to an engine without a process; a restarted one has to stand where that one stands, and
show the same bytes. A process is killed between two requests, or amid one: then it may or may not
have been answered.
"""

from __future__ import annotations

import os
import queue
import random
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gradstep.core.document import document_edits
from gradstep.core.document.document import Document
from gradstep.core.graph.model import Edge
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_client import EngineClient
from gradstep.core.host.engine_service import EngineService
from gradstep.core.host.process.supervisor import children_of
from gradstep.core.io.native import gradstep_file
from gradstep.core.protocol import messages as m
from tests.kill.tally import Tally
from tests.support.forked_engine import ENTRY

EXAMPLES = Path(__file__).parents[2] / "assets" / "examples"
NAMES = (  # loops, threads and queues, random numbers, several networks, summaries, custom Python
    "tutorial", "while_loop", "assign_in_loop", "lstm", "queue_train_validation", "dropout",
    "session_copies", "two_networks", "gan", "batch_norm_updates", "override_add", "summaries",
)  # fmt: skip
MOVES = ("step", "step_into", "step_out", "step_back", "continue_", "reverse_continue", "restart")
AMID = 0.6  # of the kills
HANG = 30.0  # seconds without an answer
LONGEST = 12  # requests before a kill
Answer = tuple[m.Message, tuple[Any, ...]]


@dataclass
class Found(Tally):
    """amid: killed while a request was on its way; answered: of these, those that had been
    answered. stall_ms: the longest that the client kept its caller."""

    amid: int = 0
    answered: int = 0


def campaign(times: int, seed: int, say: Callable[[str], None]) -> Found:
    """So many kills; what came of them."""
    found = Found()
    client = EngineClient(ENTRY)
    try:
        for number in range(times):
            Walk(client, random.Random(f"{seed} {number}"), found, f"{seed} {number}").go()
            if (number + 1) % 50 == 0:
                say(f"{number + 1} of {times}, {found.lost} lost")
    finally:
        client.close()
    return found


class Walk:
    """One random walk, and its end."""

    def __init__(
        self, client: EngineClient, chance: random.Random, found: Found, name: str
    ) -> None:
        self._client, self._chance, self._found, self._name = client, chance, found, name
        self._twin = EngineService(CpuOnly())
        self._refs: list[str] = []
        self._graph: list[str] = []
        self._document = Document()
        self._threads = [""]

    def go(self) -> None:
        """Walk, kill, restart, compare."""
        self._found.cases += 1
        example = self._chance.choice(NAMES)
        self._document = gradstep_file.load(EXAMPLES / f"{example}.gradstep")
        self._ask(m.Open(trusted=True), gradstep_file.to_bytes(self._document))
        for _ in range(self._chance.randrange(LONGEST)):
            self._ask(*self._request())
        self._kill()
        replies = self._restarted()
        if replies is None:
            return
        for reply in replies:
            self._look(reply)
        if not self._stands_as_twin():
            self._found.lost += 1
            self._found.notes.append(f"{self._name}: {example} is not where it was")

    # -- the walk -------------------------------------------------------------------------------

    def _request(self) -> tuple[m.Message, *tuple[bytes, ...]]:
        """What a user might do next."""
        kinds = ("move", "edit", "session", "thread", "branch")
        kind = self._chance.choices(kinds, (12, 3, 2, 2, 3))[0]
        if kind == "branch":
            return self._branch_request()
        if kind == "edit":
            self._document = self._edited()
            data = gradstep_file.to_bytes(self._document)
            return m.Open(trusted=True, keep_position=True), data
        if kind == "session":
            return (self._session_request(),)
        if kind == "thread":
            return (m.Control(command="thread", target=self._chance.choice(self._threads)),)
        if self._chance.random() < 0.3:
            return (m.Control(command="run_to", target=self._place()),)
        return (m.Control(command=self._chance.choice(MOVES)),)

    def _edited(self) -> Document:
        """A wire that lets no gradient back, or does again; a node more."""
        graph = self._document.graph
        wires = [
            Edge(o.name, i) for o in graph for i, ref in enumerate(o.inputs) if ref is not None
        ]
        if wires and self._chance.random() < 0.7:
            return document_edits.toggle_stop(self._document, self._chance.choice(wires))
        return document_edits.toggle_breakpoint(
            self._document, self._chance.choice([*graph.operations])
        )

    def _session_request(self) -> m.Message:
        command = self._chance.choice(("new", "duplicate", "switch", "switch", "delete", "list"))
        name = f"s{self._chance.randrange(3)}"
        if command in ("switch", "delete"):
            name = self._chance.choice(("main", name))
        return m.ManageSessions(command=command, name=name)

    def _branch_request(self) -> tuple[m.Message, *tuple[bytes, ...]]:
        """A value given, amid a loop perhaps, or the program edited; a branch shown, dropped."""
        command = self._chance.choice(("inject", "inject", "edit", "switch", "drop"))
        if command == "inject":
            return self._inject_request()
        if command == "edit":
            ops = [op.name for op in self._document.graph if op.inputs]
            wire = f"{self._chance.choice(ops)}<0" if ops else "a<0"
            return (m.ManageBranches(command="edit", kind="stop", edited=[wire]),)
        name = self._chance.choice(("main", "b1", "b2"))
        return (m.ManageBranches(command=command, name=name),)

    def _inject_request(self) -> tuple[m.Message, *tuple[bytes, ...]]:
        known = m.Values(parts=[])
        if self._refs:
            ref = self._chance.choice(self._refs)
            reply, _ = self._twin.handle(m.Read(refs=[ref]))
            known = reply if isinstance(reply, m.Values) else known
        for part in known.parts:
            if part.state == "known" and part.dtype == "float32":
                value = np.full(part.shape, self._chance.choice((0.5, -1.0)), np.float32)
                asked = m.Inject(name=part.ref, dtype="float32", shape=part.shape)
                return asked, value.tobytes()
        return (m.Control(command="step"),)

    def _place(self) -> str:
        if self._graph and self._chance.random() < 0.5:
            return self._chance.choice(self._graph)
        return f"{self._chance.randrange(3)}:{self._chance.randrange(40)}"

    def _ask(self, message: m.Message, *buffers: bytes) -> None:
        reply, _ = _send(self._client, message, buffers).get(timeout=HANG)
        twin, _ = self._twin.handle(message, buffers)
        for one in (reply, twin):
            self._look(one)
        self._learn(twin)

    def _learn(self, reply: m.Message) -> None:
        stop = reply.stopped if isinstance(reply, m.Opened | m.SessionList) else reply
        program = reply.program if isinstance(reply, m.Opened) else None
        if program is None and isinstance(stop, m.Stopped):
            program = stop.program
        if program is not None:
            inside = (step for loop in program.loops for step in loop.steps)
            self._refs = [ref for step in (*program.steps, *inside) for ref in step.outputs]
            self._graph = [step.op for step in program.steps]
        if isinstance(stop, m.Stopped):
            self._threads = [thread.name for thread in stop.threads] or [""]

    def _look(self, reply: m.Message) -> None:
        if isinstance(reply, m.Failed) and reply.error.type == "InternalError":
            self._found.internal_errors += 1
            self._found.notes.append(f"{self._name}: {reply.error.message}")

    # -- its end --------------------------------------------------------------------------------

    def _kill(self) -> None:
        """Kill it, between two requests or amid one, which the twin gets where it was answered."""
        self._measure()
        if self._chance.random() < AMID:
            message, *buffers = self._request()
            answers = _send(self._client, message, buffers)
            self._found.amid += 1
            time.sleep(self._chance.choice((0.0, 0.0005, 0.002, 0.01)) * self._chance.random())
            self._die()
            reply, _ = answers.get(timeout=HANG)
            if not (isinstance(reply, m.Failed) and reply.error.type == "EngineDied"):
                self._found.answered += 1
                self._learn(self._twin.handle(message, buffers)[0])
        else:
            self._die()

    def _die(self) -> None:
        """By kill -9 of the engine, or of its supervisor; or as the window does it."""
        victims = [self._client.pid, *children_of(self._client.pid)]
        begun = time.monotonic()
        if self._chance.random() < 0.3:
            self._client.kill()
        else:
            os.kill(self._chance.choice(victims), signal.SIGKILL)
        self._keep_longest(begun)
        while self._client.alive and time.monotonic() - begun < HANG:
            time.sleep(0.001)

    def _restarted(self) -> Sequence[m.Message] | None:
        """The replies on the way back; None where they did not come."""
        replies: queue.Queue[m.Message] = queue.Queue()
        begun = time.monotonic()
        count = self._client.restart(lambda reply, _: replies.put(reply))
        self._keep_longest(begun)
        try:
            return [replies.get(timeout=HANG) for _ in range(count)]
        except queue.Empty:
            self._found.hangs += 1
            self._found.notes.append(f"{self._name}: it did not come back")
            return None

    def _keep_longest(self, begun: float) -> None:
        self._found.stall_ms = max(self._found.stall_ms, 1000 * (time.monotonic() - begun))

    def _measure(self) -> None:
        for pid in children_of(self._client.pid):
            self._found.peak_mib = max(self._found.peak_mib, _peak(pid))

    # -- what is compared -------------------------------------------------------------------------

    def _stands_as_twin(self) -> bool:
        here = [*_standing(lambda r: _send(self._client, r).get(timeout=HANG), self._refs)]
        return here == [*_standing(self._twin.handle, self._refs)]


def _send(
    client: EngineClient, message: m.Message, buffers: Sequence[bytes] = ()
) -> queue.Queue[Answer]:
    """Where the answer will be."""
    answers: queue.Queue[Answer] = queue.Queue()
    client.send(message, buffers, lambda *answer: answers.put(answer))
    return answers


def _standing(ask: Any, refs: Sequence[str]) -> Iterator[Any]:
    """Where the debugger stands in which session, and all values there."""
    place = ask(m.Control(command="pause"))[0]
    if not isinstance(place, m.Stopped):
        yield place
        return
    yield place.run, place.step, place.inside, place.op, [(t.name, t.step) for t in place.threads]
    # Where one was left that a restart took off the screen, the journal is not told.
    yield [(b.name, b.parent, b.run, b.step, b.text, b.edits, b.current) for b in place.branches]
    listed = ask(m.ManageSessions(command="list"))[0]
    yield listed.current, [(s.name, s.run, s.step, s.held) for s in listed.sessions]
    values, buffers = ask(m.Read(refs=[*refs], limit=1 << 20))
    yield values.parts, [bytes(buffer) for buffer in buffers]


def _peak(pid: int) -> float:
    """The most memory that a process had, in MiB."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    line = next((line for line in status.splitlines() if line.startswith("VmHWM")), "VmHWM: 0 kB")
    return int(line.split()[1]) / 1024
