"""What tests of the whole tree ask of its code: each file is parsed once for all of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from tests.support.statements import statements_in

MAIN = "gradstep.main"  # named to be started as a process, by `python -m`
_TEXT = re.compile("[\"']gradstep\\.")  # of a string that may name a module: few files have one
Naming = tuple[int, *tuple[str, ...]]


@dataclass(frozen=True)
class CodeFacts:
    """named: the line of everything that may name a module when it runs, with the name, or else
    another. defined: names of its own, classes with their members (`Graph.ancestors`), functions,
    values."""

    named: tuple[Naming, ...]
    defined: frozenset[str]


@cache
def facts_of(text: str) -> CodeFacts:
    tree = ast.parse(text)
    within = ast.iter_child_nodes if _TEXT.search(text) else statements_in
    return CodeFacts((*_named(tree, within),), frozenset(_defined(tree.body)))


def _named(tree: ast.AST, within: Callable[[ast.AST], Iterable[ast.AST]]) -> Iterator[Naming]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name | ast.expr_context):
            continue  # most of them
        if isinstance(node, ast.If) and _is_for_types(node.test):
            waiting += node.orelse
            continue
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and "." in node.value and node.value != MAIN:
                yield node.lineno, node.value
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            of = node.module or ""
            yield from ((node.lineno, f"{of}.{alias.name}", of) for alias in node.names)
        else:
            waiting += within(node)


def _is_for_types(test: ast.AST) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def _defined(body: list[ast.stmt], prefix: str = "") -> Iterator[str]:
    for node in body:
        match node:
            case ast.ClassDef():
                yield prefix + node.name
                yield from _defined(node.body, f"{prefix}{node.name}.")
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield prefix + node.name
            case ast.Assign():
                yield from (prefix + t.id for t in node.targets if isinstance(t, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield prefix + name
