"""Divisions of whole numbers on the way to a loss, whose remainder is lost."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradstep.core.checks.doctor.examined_document import Examined
from gradstep.core.checks.doctor.lint import Finding
from gradstep.core.document.lint_remedies import Remedy
from gradstep.core.graph.model import Operation

_DIVISIONS = frozenset({"Div", "FloorDiv", "TruncateDiv"})


def find_integer_quotients(x: Examined) -> Iterator[Finding]:
    """Those that are made floating-point afterwards, where both numbers are known and do not
    divide: of others nobody can say that the remainder was wanted."""
    for op in x.forward:
        if op.type == "Cast" and op.name in x.behind_losses:
            quotient = x.source(op)
            if quotient is not None and quotient.type in _DIVISIONS:
                yield from _finding(x, op, quotient)


def _finding(x: Examined, cast: Operation, op: Operation) -> Iterator[Finding]:
    types = x.inference.types
    a, b = (x.constant(ref) for ref in op.inputs)
    if a is None or b is None or not np.all(b):
        return
    if not types[op.output()].dtype.is_integer or not types[cast.output()].dtype.is_floating:
        return
    lost = np.argwhere(a % b != 0)
    if len(lost):
        at = tuple(lost[0])
        one, other = (int(np.broadcast_to(side, np.shape(a % b))[at]) for side in (a, b))
        yield _said(cast, op, one, other)


def _said(cast: Operation, op: Operation, a: int, b: int) -> Finding:
    names = [ref.short for ref in op.inputs if ref is not None]
    quotient = a // b if op.type == "FloorDiv" else int(a / b)
    text = (
        f"{op.name} divides whole numbers: {a} / {b} is {quotient} there, and not {a / b:.4g}, "
        f"when {cast.name} makes it floating-point for the loss"
    )
    fix = f"cast {names[0]} and {names[1]} first, and divide then (RealDiv)"
    remedy = Remedy("cast_first", (op.name, cast.name))
    return Finding(op.name, text, fix, remedy=remedy)
