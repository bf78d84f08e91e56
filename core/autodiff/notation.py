"""What a step does, in mathematical notation, rendered from the operations that run."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from core.graph.model import Constant, Edge, Graph, Operation, Phase, TensorRef
from core.ops.table import find

_DEPTH = 4  # levels of inlined operations before a name is used instead


class Notation:
    """Writes tensors and steps of one derived graph.

    gradients: forward tensor -> tensor that holds its gradient; edges: the contribution that
    flows back over each wire; both as Differentiation gives them. of: what was differentiated.
    """

    def __init__(
        self,
        graph: Graph,
        of: tuple[TensorRef, ...],
        gradients: Mapping[TensorRef, TensorRef],
        edges: Mapping[Edge, TensorRef],
    ) -> None:
        self.graph = graph
        self.numerator = "∂L" if len(of) == 1 else "∂ΣL"
        self._of: dict[TensorRef, TensorRef] = {}
        for tensor, gradient in gradients.items():
            self._of.setdefault(gradient, tensor)
        self._flows = {g: source for edge, g in edges.items() if (source := graph.source(edge))}
        self._contributions = Counter(self._flows.values())

    def derivative(self, tensor: TensorRef) -> str:
        """`∂L/∂x`."""
        return f"{self.numerator}/∂{_last(tensor)}"

    def step(self, op: Operation) -> str:
        """What executing `op` does: `d = data + c`, `∂L/∂d += e ⊙ ∂L/∂a`, `c ← Adam(…)`."""
        if not op.inputs:
            return self._source(op)
        if _writes(op):
            return self._update(op)
        right = self._formula(op, _DEPTH)
        if op.phase is Phase.BACKWARD:
            return self._backward(op, right)
        return f"{_last(op.output())} = {right}"

    def gradient_of(self, tensor: TensorRef, gradient: TensorRef) -> str:
        """`∂L/∂e = d ⊙ ∂L/∂a`: how the gradient of `tensor` is made."""
        op = self.graph[gradient.op]
        return f"{self.derivative(tensor)} = {self._formula(op, _DEPTH)}"

    def _backward(self, op: Operation, right: str) -> str:
        result = op.output()
        target = self._flows.get(result)
        if target is not None:
            sign = "+=" if self._contributions[target] > 1 else "="
            return f"{self.derivative(target)} {sign} {right}"
        if result in self._of:
            return f"{self.derivative(self._of[result])} = {right}"
        return f"{_last(result)} = {right}"

    def _source(self, op: Operation) -> str:
        if op.type == "Const":
            return f"{_last(op.output())} = {_constant(op)}"
        after = ", ".join(name.rpartition("/")[2] for name in op.control_inputs)
        return f"{op.type} {op.name}" + (f", after {after}" if after else "")

    def _update(self, op: Operation) -> str:
        definition = find(op.type)
        target = op.inputs[_writes(op)[0]]
        if definition is None or target is None:
            return f"{op.type} {_last(op.output())}"
        names = definition.arity(len(op.inputs))
        shown = [
            self._operand(ref, 1)
            for name, ref in zip(names, op.inputs, strict=True)
            if ref is not None
            and ref != target
            and name in ("grad", "value", "delta", "alpha", "lr")
        ]
        return f"{_last(target)} ← {op.type}({', '.join([_last(target), *shown])})"

    def _operand(self, ref: TensorRef, depth: int) -> str:
        if ref in self._of:
            return self.derivative(self._of[ref])
        if ref.op not in self.graph:
            return _last(ref)  # a wire from nowhere: the step will fail, and may be shown
        op = self.graph[ref.op]
        if op.type == "Const":
            return _constant(op)
        if not op.inputs:
            return op.name  # a variable, or a slot of one: `c/Adam` says whose
        if op.phase is Phase.FORWARD:
            return _last(ref)
        return self._formula(op, depth - 1) if depth > 1 and ref.index == 0 else _last(ref)

    def _formula(self, op: Operation, depth: int) -> str:
        definition = find(op.type)
        operands = [self._operand(ref, depth) for ref in op.inputs if ref is not None]
        if op.type == "AddN":
            return " + ".join(operands)
        if definition is None or not definition.formula or len(operands) < len(op.inputs):
            return f"{op.type}({', '.join(operands)})"
        names = definition.arity(len(op.inputs))
        attrs = {name: definition.attr(op, name) for name in definition.attrs}
        return render(definition.formula, dict(zip(names, operands, strict=True)), attrs)


def render(formula: str, names: Mapping[str, str], attrs: Mapping[str, Any] | None = None) -> str:
    """A formula of the op table with operands put in and mathematical signs: `x * y` -> `d ⊙ g`.

    attrs: attributes by name; their values are put in, and decide what the formula leaves open.
    """
    return _Renderer(names, attrs or {}).visit(ast.parse(formula, mode="eval").body)


_SIGNS = {
    ast.Add: ("+", 1),
    ast.Sub: ("−", 1),
    ast.Mult: ("⊙", 2),
    ast.Div: ("/", 2),
    ast.MatMult: ("·", 2),
    ast.Pow: ("^", 3),
    ast.FloorDiv: ("//", 2),
    ast.Mod: ("mod", 2),
}
_COMPARISONS = {
    ast.Gt: ">",
    ast.Lt: "<",
    ast.GtE: "≥",
    ast.LtE: "≤",
    ast.Eq: "=",
    ast.NotEq: "≠",
    ast.IsNot: "≠",
}


class _Renderer(ast.NodeVisitor):
    """Text of a formula. An operand that is itself an expression is put in brackets."""

    def __init__(self, names: Mapping[str, str], attrs: Mapping[str, Any]) -> None:
        self.names = {**{name: str(value) for name, value in attrs.items()}, **names}
        self.attrs = attrs

    def visit(self, node: ast.AST) -> str:
        return str(super().visit(node))

    def generic_visit(self, node: ast.AST) -> str:
        return ast.unparse(node)

    def visit_Name(self, node: ast.Name) -> str:
        return self.names.get(node.id, node.id)

    def visit_Constant(self, node: ast.Constant) -> str:
        return str(node.value)

    def visit_BinOp(self, node: ast.BinOp) -> str:
        sign, rank = _SIGNS[type(node.op)]
        left, right = self._inside(node.left, rank), self._inside(node.right, rank + 1)
        return f"{left} {sign} {right}"

    def visit_UnaryOp(self, node: ast.UnaryOp) -> str:
        sign = "−" if isinstance(node.op, ast.USub) else "¬"
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
        arguments = [self.visit(a) for a in node.args]
        arguments += [f"{k.arg}={self.visit(k.value)}" for k in node.keywords]
        return f"{self.visit(node.func)}({', '.join(arguments)})"

    def _inside(self, node: ast.AST, rank: int) -> str:
        text = self.visit(node)
        if isinstance(node, ast.BinOp):
            return f"({text})" if _SIGNS[type(node.op)][1] < rank else text
        compound = isinstance(node, ast.Name) and " " in text and not text.endswith(")")
        return f"({text})" if compound else text


def _writes(op: Operation) -> tuple[int, ...]:
    definition = find(op.type)
    return () if definition is None or not definition.writes else tuple(definition.writes)


def _last(ref: TensorRef) -> str:
    """The tensor by the last part of its name: `gradients/a_grad/Mul_1` is `Mul_1`."""
    short = ref.op.rpartition("/")[2]
    return short if ref.index == 0 else f"{short}:{ref.index}"


def _constant(op: Operation) -> str:
    value = op.attrs.get("value")
    if isinstance(value, Constant) and value.array.size <= 4:
        return np.array2string(
            value.array, separator=", ", formatter={"float_kind": "{:.6g}".format}
        )
    return _last(op.output())
