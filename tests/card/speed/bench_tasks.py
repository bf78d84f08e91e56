"""What a bench measures, one task after another: "steps|LIBRARY|WORKLOAD|WAY", "op|LIBRARY|NAME",
and last, as nothing can be timed after it, "count|LIBRARY|WORKLOAD|WAY".

LIBRARY is who runs it, each in a process of its own: `torch`, `cupy` as Gradstep has it, or
`cupy-cub` with CUB for reductions, as CuPy has it.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.card.speed.op_table import OP_ROWS

WORKLOADS = ("w1", "w2", "w3", "w4", "w5", "w6", "w7", "w8")
PEER, OURS, CUB = "torch", "cupy", "cupy-cub"
# Of a workload, in this order: the first is what the others are held to.
_WAYS = (
    (PEER, "eager"),
    (PEER, "graph"),
    (OURS, "fast"),
    (OURS, "recorded"),
    (CUB, "fast"),
)


def tasks(only: Sequence[str] = ()) -> list[str]:
    """All of them; or those of the kinds, libraries, workloads and operations that `only` names."""
    found = [f"steps|{library}|{name}|{way}" for name in WORKLOADS for library, way in _WAYS]
    for row in OP_ROWS.values():
        libraries = (PEER, OURS, CUB) if row.reduces else (PEER, OURS)
        found += [f"op|{library}|{row.name}" for library in libraries]
    found += [f"count|{PEER}|{name}|eager" for name in WORKLOADS]
    return [task for task in found if not only or any(is_named(task, word) for word in only)]


def is_named(task: str, word: str) -> bool:
    kind, _, item, *_ = task.split("|")
    return word in (kind, item, item.split()[0])


def judge_of(task: str) -> str:
    """The task whose results this one has to have as well; its own name where it is that."""
    kind, _, item, *way = task.split("|")
    return "|".join((kind, PEER, item, *(["eager"] if way else [])))
