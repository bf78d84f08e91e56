"""Which function of a piece of Python is meant, and what a function may be called."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Collection, Mapping, Sequence


def identifier(name: str) -> str:
    """`name` as a function can be called: `CustomGradient_0` for "CustomGradient-0"."""
    word = re.sub(r"[^A-Za-z0-9_]", "_", name)
    if keyword.iskeyword(word):
        return f"{word}_"
    return word if word.isidentifier() else f"_{word}"


def meant(tree: ast.Module, name: str) -> str | None:
    """The function of a module that serves as `name`: one that is called so or registered as that
    gradient, else the last at the top level; None where there is none."""
    functions = functions_in(tree)
    return serves(functions, name) or next(reversed(functions), None)


def serves(functions: Mapping[str, Collection[str]], name: str) -> str | None:
    """The last of `functions_in` that is called `name` or registered as that gradient."""
    found = [own for own, names in functions.items() if name in names or identifier(name) == own]
    return found[-1] if found else None


def functions_in(tree: ast.Module) -> dict[str, set[str]]:
    """The functions at the top level of a module, and which gradients each is registered as."""
    found = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return {node.name: {*map(_registered, node.decorator_list)} - {""} for node in found}


def _registered(decorator: ast.expr) -> str:
    """ "CustomAdd" for `@tf.RegisterGradient("CustomAdd")`."""
    match decorator:
        case ast.Call(
            func=ast.Attribute(attr="RegisterGradient") | ast.Name(id="RegisterGradient"),
            args=[ast.Constant(value=str(name))],
        ):
            return name
    return ""


def argument_names(words: Sequence[str], taken: Collection[str] = ()) -> list[str]:
    """Python names after the operations that come in ("" for none), valid and distinct."""
    chosen: dict[str, None] = {}
    counts: dict[str, int] = {}
    for word in words:
        base = identifier(word.rpartition("/")[2] or "x")
        name, count = base, counts.get(base, 1)
        while name in chosen or name in taken:
            count += 1
            name = f"{base}_{count}"
        counts[base] = count
        chosen[name] = None
    return [*chosen]
