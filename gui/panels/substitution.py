"""Notation with the numbers put in: `∂L/∂e = d ⊙ ∂L/∂a = [1.06 1.96] ⊙ [.485 -.485]`."""

from __future__ import annotations

import re

import numpy as np

from gui.values import TensorValue
from gui.workspace import Workspace

_MOST = 4  # elements of one tensor; more would bury the formula
_SYMBOL = re.compile(r"∂\w*/∂(?P<of>[\w/]+)|(?P<name>[A-Za-z_][\w/]*)(?P<call>\()?")


def with_numbers(text: str, workspace: Workspace) -> str:
    """`text` and, when every tensor on its right-hand side is known and small, the same with
    values. Function names stay as they are."""
    _, equals, right = text.partition(" = ")
    if not equals:
        return text
    missing: list[str] = []

    def value(match: re.Match[str]) -> str:
        if match["call"]:
            return match[0]
        known = _known(workspace, match)
        if known is None:
            missing.append(match[0])
            return match[0]
        return _written(known)

    filled = _SYMBOL.sub(value, right)
    return text if missing or filled == right else f"{text} = {filled}"


def _known(workspace: Workspace, match: re.Match[str]) -> TensorValue | None:
    name = match["of"] or match["name"]
    if name not in workspace.shown:
        return None
    found = workspace.gradient(name) if match["of"] else workspace.value(name)
    small = found is not None and found.state == "known" and found.size <= _MOST
    return found if small else None


def _written(value: TensorValue) -> str:
    texts = [_number(x) for x in value.head]
    return texts[0] if not value.shape else f"[{' '.join(texts)}]"


def _number(x: object) -> str:
    return f"{x:.3g}" if isinstance(x, float | np.floating) else str(x)
