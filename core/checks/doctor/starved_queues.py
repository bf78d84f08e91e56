"""Queues that are taken from and that nothing fills, so that whoever takes waits for good."""

from __future__ import annotations

from collections.abc import Iterator

from gradstep.core.checks.doctor.examined_document import Examined
from gradstep.core.checks.doctor.finding_words import listed, plural
from gradstep.core.checks.doctor.lint import Finding
from gradstep.core.graph.model import Operation

_TAKES, _PUTS = "QueueDequeue", "QueueEnqueue"


def find_starved_queues(x: Examined) -> Iterator[Finding]:
    """Those of which runs execute something that takes, and nothing that puts in."""
    takes, puts = _users(x, _TAKES), _users(x, _PUTS)
    for queue, readers in takes.items():
        taken = [name for name in readers if name in x.executed]
        fillers = puts.get(queue, [])
        if taken and not any(name in x.executed for name in fillers):
            yield _finding(queue, taken, fillers)


def _users(x: Examined, types: str) -> dict[str, list[str]]:
    """Queue -> the operations of these types that have its handle."""
    found: dict[str, list[str]] = {}
    for op in x.drawn:
        if op.type.startswith(types):
            queue = _queue(x, op)
            if queue is not None:
                found.setdefault(queue, []).append(op.name)
    return found


def _queue(x: Examined, op: Operation) -> str | None:
    """What makes the handle, if that is a queue: it may come from elsewhere."""
    source = x.source(op)
    return source.name if source is not None and "Queue" in source.type else None


def _finding(queue: str, taken: list[str], fillers: list[str]) -> Finding:
    text = f"{listed(taken)} {plural(taken, 'takes', 'take')} from {queue}, and "
    if fillers:
        nobody = "no run or thread executes"
        text += f"{nobody} {listed(fillers)}, which {plural(fillers, 'puts', 'put')} something in"
        fix = f"let a thread run {fillers[0]}"
    else:
        text += "nothing in the graph puts anything in"
        fix = "add an enqueue, and a thread that runs it"
    return Finding(taken[0], f"{text}: the run stops there, and waits for good", fix)
