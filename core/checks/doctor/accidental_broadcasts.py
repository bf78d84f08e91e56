"""Shapes that broadcast by accident: [n] against [n, 1] is [n, n], each row against every other."""

from __future__ import annotations

from collections.abc import Iterator

from gradstep.core.checks.doctor.examined_document import Examined
from gradstep.core.checks.doctor.lint import Finding
from gradstep.core.document.lint_remedies import Remedy
from gradstep.core.graph.dtypes import Shape
from gradstep.core.graph.model import Edge, Operation, TensorRef

# What holds predictions against labels. Products of the kind are as often meant as not.
_DIFFERENCES = frozenset({"Sub", "SquaredDifference"})
_Dims = tuple[int | None, ...]


def find_accidental_broadcasts(x: Examined) -> Iterator[Finding]:
    """Differences on the way to a loss between what is trained and what is not."""
    for op in x.forward:
        if op.type not in _DIFFERENCES or op.name not in x.behind_losses:
            continue
        sides = [x.shape(ref) for ref in op.inputs]
        if len(sides) == 2 and _crosses(*sides) and _holds_against_data(x, op):
            yield _finding(op, *sides)


def _crosses(a: _Dims | None, b: _Dims | None) -> bool:
    """Whether one is a row of n numbers and the other a column of as many, neither of them 1."""
    if a is None or b is None:
        return False
    row, column = sorted((a, b), key=len)
    if (len(row), len(column)) != (1, 2) or column[1] != 1 or 1 in (row[0], column[0]):
        return False
    return row[0] == column[0]


def _holds_against_data(x: Examined, op: Operation) -> bool:
    """Whether one side hangs on variables and the other does not, nor on a constant alone."""
    first, second = (x.sources([ref.op]) if ref else set() for ref in op.inputs)
    learned = [any(map(x.is_variable, side)) for side in (first, second)]
    data = second if learned[0] else first
    return sum(learned) == 1 and any(_is_given(x.graph[name]) for name in data)


def _is_given(op: Operation) -> bool:
    """Whether its value comes from outside, or stands for that in a drawing."""
    return op.type.startswith(("Placeholder", "QueueDequeue", "Iterator")) or op.type == "Const"


def _finding(op: Operation, a: _Dims | None, b: _Dims | None) -> Finding:
    assert a is not None
    assert b is not None
    names = [ref.short if isinstance(ref, TensorRef) else "?" for ref in op.inputs]
    n = "n" if a[0] is None else str(a[0])
    column = names[0] if len(a) == 2 else names[1]
    text = (
        f"{op.name} holds {names[0]} {Shape(a)} against {names[1]} {Shape(b)}, which gives "
        f"[{n}, {n}]: every row against every other, not against its own. The loss goes down to "
        "where all predictions are the mean of the labels"
    )
    fix = f"squeeze the last axis of {column} away, or give both one shape"
    row = Edge(op.name, 1 if len(a) == 2 else 0)
    return Finding(op.name, text, fix, remedy=Remedy("expand", (str(row), "1")))
