"""The tensors that an expression names, and the same expression once an operation is renamed."""

from __future__ import annotations

import re
from collections.abc import Callable

from core.graph.model import TensorRef

_MENTION = re.compile(r"""\b(?P<table>x|grad)\s*\[\s*(?P<quote>["'])(?P<name>.+?)(?P=quote)\s*\]""")


def mentioned(expression: str) -> list[tuple[str, TensorRef]]:
    """What it reads: ("x", tensor) for a value, ("grad", tensor) for a gradient."""
    found = _MENTION.finditer(expression)
    return [(m["table"], TensorRef.parse(m["name"])) for m in found]


def renamed(expression: str, name_of: Callable[[str], str]) -> str:
    """`expression` with operation names put through `name_of`; the rest stays as it was typed."""

    def again(match: re.Match[str]) -> str:
        old = TensorRef.parse(match["name"])
        new = name_of(old.op) + match["name"][len(old.op) :]
        quote = match["quote"]
        return f"{match['table']}[{quote}{new}{quote}]"

    return _MENTION.sub(again, expression)
