"""A document's own Python in the script: its functions, by names that are theirs alone."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from gradstep.core.document.document import CodeItem, CodeKind
from gradstep.core.document.function_lookup import functions_in, identifier, meant


def functions(items: Iterable[CodeItem]) -> Iterator[str]:
    """Each source once, and after it what is done with the functions that are meant in it."""
    by_source: dict[str, list[CodeItem]] = {}
    for item in items:
        by_source.setdefault(item.source, []).append(item)
    for source, served in by_source.items():
        lines = [line for item in served for line in _used(item)]
        yield "\n".join([f"\n{source.rstrip()}\n", *lines])


def script_name(item: CodeItem | None) -> str:
    """What the script calls a function of the document."""
    return "None" if item is None or _function(item) == "None" else identifier(item.name)


def tree_of(source: str) -> ast.Module:
    """What is no Python defines nothing: the script is written all the same."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _used(item: CodeItem) -> Iterator[str]:
    function, name = _function(item), item.name
    if item.kind is CodeKind.PYFUNC:
        if function != script_name(item):  # another piece may define a function of the same name
            yield f"\n{script_name(item)} = {function}\n"
    elif item.kind is CodeKind.NUMPY_GRADIENT:
        yield f"\ntf.RegisterGradient({name!r})(on_arrays({function}))\n"
    elif name not in _registered(item.source):
        yield f"\ntf.RegisterGradient({name!r})({function})\n"


def _function(item: CodeItem) -> str:
    return meant(tree_of(item.source), item.name) or "None"


def _registered(source: str) -> set[str]:
    """Gradients that the source registers itself."""
    return {name for names in functions_in(tree_of(source)).values() for name in names}
