"""Which words of a named edit are operations, tensors or wires of the graph, and so renamed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gradstep.core.autodiff.reverse.gradient_request import OverrideKind

# kind -> which of its names; every other kind has nothing else.
_OTHERS: Mapping[str, tuple[int, ...]] = {
    "set": (0,),
    "hyper": (),
    "override": (1,),
    "unbend": (1,),
    **dict.fromkeys(("add_epsilon", "keep_above", "keep_below", "expand"), (0,)),
    **dict.fromkeys(("feed", "draw", "scale"), (0,)),
    "safe_where": (0, 1),
}


def rename_in_edit(kind: str, names: Sequence[str], name_of: Callable[[str], str]) -> list[str]:
    """The same edit of a graph whose operations have other names."""
    places = _OTHERS.get(kind, range(len(names)))
    if kind in ("override", "unbend") and [*names][-1:] != [OverrideKind.OP]:
        places = ()  # of a type, or in a scope
    return [_renamed(n, name_of) if i in places else n for i, n in enumerate(names)]


def _renamed(text: str, name_of: Callable[[str], str]) -> str:
    for mark in "<:":
        name, found, number = text.rpartition(mark)
        if found and number.isdigit():
            return f"{name_of(name)}{mark}{number}"
    return name_of(text)
