"""A formula of the op table as mathematics: operands put in, signs in place of Python's."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from typing import Any

from gradstep.core.memory_release import memo_of_document


def render(
    formula: str,
    names: Mapping[str, str],
    attrs: Mapping[str, Any] | None = None,
    real: bool = False,
) -> str:
    """A formula of the op table with operands put in and mathematical signs: `x * y` -> `d ⊙ g`.

    attrs: attributes by name; their values are put in, and decide what the formula leaves open.
    real: no operand is complex, so that `conj(x)` is x.
    """
    return _Renderer(names, attrs or {}, real).visit(_parsed(formula))


@memo_of_document(None)
def _parsed(formula: str) -> ast.expr:
    """There are as many as ops in the table; a graph has each of them over and over."""
    return ast.parse(formula, mode="eval").body


_SIGNS = {
    ast.Add: ("+", 1),
    ast.Sub: ("−", 1),
    ast.Mult: ("⊙", 2),
    ast.Div: ("/", 2),
    ast.MatMult: ("·", 2),
    ast.Pow: ("^", 3),
    ast.FloorDiv: ("//", 2),
    ast.Mod: ("mod", 2),
    ast.BitAnd: ("&", 0),
    ast.BitOr: ("|", 0),
    ast.BitXor: ("xor", 0),
    ast.LShift: ("<<", 1),
    ast.RShift: (">>", 1),
}
_COMPARISONS = {
    ast.Gt: ">",
    ast.Lt: "<",
    ast.GtE: "≥",
    ast.LtE: "≤",
    ast.Eq: "=",
    ast.NotEq: "≠",
    ast.IsNot: "≠",
    ast.Is: "=",
}


class _Renderer(ast.NodeVisitor):
    """Text of a formula. An operand that is itself an expression is put in brackets."""

    def __init__(self, names: Mapping[str, str], attrs: Mapping[str, Any], real: bool) -> None:
        self.names = {**{name: str(value) for name, value in attrs.items()}, **names}
        self.attrs = attrs
        self.real = real

    def visit(self, node: ast.AST) -> str:
        return str(super().visit(node))

    def generic_visit(self, node: ast.AST) -> str:
        return ast.unparse(_Naming(self).visit(copy.deepcopy(node)))

    def visit_Name(self, node: ast.Name) -> str:
        return self.names.get(node.id, node.id)

    def visit_Constant(self, node: ast.Constant) -> str:
        return str(node.value)

    def visit_BinOp(self, node: ast.BinOp) -> str:
        sign, rank = _SIGNS[type(node.op)]
        left, right = self._inside(node.left, rank), self._inside(node.right, rank + 1)
        return f"{left} {sign} {right}"

    def visit_UnaryOp(self, node: ast.UnaryOp) -> str:
        sign = {ast.USub: "−", ast.UAdd: "+"}.get(type(node.op), "¬")
        return f"{sign}{self._inside(node.operand, 3)}"

    def visit_Compare(self, node: ast.Compare) -> str:
        sign = _COMPARISONS[type(node.ops[0])]
        return f"{self.visit(node.left)} {sign} {self.visit(node.comparators[0])}"

    def visit_IfExp(self, node: ast.IfExp) -> str:
        if isinstance(node.test, ast.Name) and node.test.id in self.attrs:
            return self.visit(node.body if self.attrs[node.test.id] else node.orelse)
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> str:
        return f"{self._inside(node.value, 3)}ᵀ" if node.attr == "T" else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> str:
        if isinstance(node.func, ast.Name) and node.func.id == "matmul":
            return " · ".join(self._inside(a, 2) for a in node.args)
        if self._is_itself(node):
            return self.visit(node.args[0])
        arguments = [self.visit(a) for a in node.args]
        arguments += [f"{k.arg}={self.visit(k.value)}" for k in node.keywords]
        return f"{self.visit(node.func)}({', '.join(arguments)})"

    def visit_BoolOp(self, node: ast.BoolOp) -> str:
        word = " and " if isinstance(node.op, ast.And) else " or "
        return word.join(self._inside(value, 0) for value in node.values)

    def _inside(self, node: ast.AST, rank: int) -> str:
        """The text of `node`, in brackets where it binds less tightly than `rank`."""
        if isinstance(node, ast.Call) and self._is_itself(node):
            return self._inside(node.args[0], rank)
        text = self.visit(node)
        if isinstance(node, ast.BinOp):
            return f"({text})" if _SIGNS[type(node.op)][1] < rank else text
        if isinstance(node, ast.Compare | ast.BoolOp):
            return f"({text})"
        operand = isinstance(node, ast.Name | ast.IfExp)
        return f"({text})" if operand and _is_compound(text) else text

    def _is_itself(self, node: ast.Call) -> bool:
        """Whether it is the conjugate of a real number."""
        return self.real and isinstance(node.func, ast.Name) and node.func.id == "conj"


def _is_compound(text: str) -> bool:
    """Whether there is a space outside all brackets."""
    depth = 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == " " and depth == 0:
            return True
    return False


class _Naming(ast.NodeTransformer):
    """Puts operands into what has no mathematical sign: an index, a condition, a list."""

    def __init__(self, renderer: _Renderer) -> None:
        self._renderer = renderer

    def visit_Name(self, node: ast.Name) -> ast.Name:
        text = self._renderer.visit(node)
        return ast.Name(f"({text})" if _is_compound(text) else text)
