"""The tensors that an expression names, and the same expression once an operation is renamed."""

from __future__ import annotations

import re
from collections.abc import Callable

from gradstep.core.graph.model import TensorRef

_MENTION = re.compile(
    r"""\b(?P<table>x|grad|update)\s*\[\s*(?P<quote>["'])(?P<name>.+?)(?P=quote)\s*"""
    r"""(?:,\s*(?P<loss_quote>["'])(?P<loss>.+?)(?P=loss_quote)\s*)?\]"""
)
_AND = " + "  # between the tensors of a loss that is several


def find_mentions(expression: str) -> list[tuple[str, TensorRef]]:
    """What it reads: ("x", tensor) for a value, ("grad", tensor) for a gradient, ("update", tensor)
    for what a run changed; of a gradient that is said to be of a loss, that as well."""
    found: list[tuple[str, TensorRef]] = []
    for match in _MENTION.finditer(expression):
        found.append((match["table"], TensorRef.parse(match["name"])))
        found += [("x", TensorRef.parse(name)) for name in _parts(match)]
    return found


def names_a_tensor(expression: str) -> bool:
    """Whether it is nothing but x["…"], grad["…"] or update["…"]."""
    return _MENTION.fullmatch(expression.strip()) is not None


def written_by_name(name: str) -> str:
    """Whether the tensor of that name was just given its value, as an expression."""
    return f'written(x["{name.strip()}"])'


def rename_operations(expression: str, name_of: Callable[[str], str]) -> str:
    """`expression` with operation names put through `name_of`; the rest stays as it was typed, and
    may be half typed."""

    def new(old: str) -> str:
        return rename_tensor(old, name_of)

    def again(match: re.Match[str]) -> str:
        quote, loss = match["quote"], _AND.join(map(new, _parts(match)))
        of = f", {match['loss_quote']}{loss}{match['loss_quote']}" if loss else ""
        return f"{match['table']}[{quote}{new(match['name'])}{quote}{of}]"

    return _MENTION.sub(again, expression)


def rename_tensor(ref: str, name_of: Callable[[str], str]) -> str:
    """The same of a tensor's name, "a:0"; "" for ""."""
    op = ref.partition(":")[0]
    return ref and f"{name_of(op)}{ref[len(op) :]}"


def _parts(match: re.Match[str]) -> list[str]:
    """The tensors of the loss that is named."""
    return match["loss"].split(_AND) if match["loss"] else []
