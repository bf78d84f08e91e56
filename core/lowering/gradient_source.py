"""A custom backward that was traced, as a gradient function of ours: Python with `tf`, as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradstep.core.lowering.foreign_graph import CustomFunction, ForeignNode, ForeignRef
from gradstep.core.lowering.lax_expressions import lax_expression
from gradstep.core.lowering.lowering_table import UnloweredError

Write = Callable[..., str]
Rank = Callable[[ForeignRef], int | None]


def _call(name: str) -> Write:
    return lambda *args: f"tf.{name}({', '.join(args)})"


# Foreign operation -> its expression, of the texts of what it takes.
EXPRESSIONS: Mapping[str, Write] = {
    "add": lambda a, b: f"{a} + {b}", "sub": lambda a, b: f"{a} - {b}",
    "mul": lambda a, b: f"{a} * {b}", "div": lambda a, b: f"{a} / {b}",
    "rsub": lambda a, b: f"{b} - {a}", "pow": lambda a, b: f"{a} ** {b}", "neg": lambda a: f"-{a}",
    "alias": lambda a: a, "clone": lambda a: a, "detach": _call("stop_gradient"),
    "mm": _call("matmul"), "matmul": _call("matmul"), "t": _call("transpose"),
    "gt": _call("greater"), "ge": _call("greater_equal"), "lt": _call("less"),
    "le": _call("less_equal"), "eq": _call("equal"), "ne": _call("not_equal"),
    "logical_and": _call("logical_and"), "logical_not": _call("logical_not"),
    "abs": _call("abs"), "exp": _call("exp"), "log": _call("log"), "sign": _call("sign"),
    "tanh": _call("tanh"), "sigmoid": _call("sigmoid"), "relu": _call("nn.relu"),
    "sqrt": _call("sqrt"), "square": _call("square"), "zeros_like": _call("zeros_like"),
    "maximum": _call("maximum"), "minimum": _call("minimum"), "where": _call("where"),
    "ones_like": _call("ones_like"),
}  # fmt: skip
_REDUCED = {"sum": "reduce_sum", "mean": "reduce_mean", "amax": "reduce_max"}
_TAKEN = ("condition", "self", "mat2", "other", "exponent")


@dataclass
class GradientSource:
    """The text, and the further tensors of the forward pass that it reads: op.inputs has outputs,
    inputs, and then these."""

    text: str = ""
    captured: list[ForeignRef] = field(default_factory=list)


def gradient_source(
    key: str,
    function: CustomFunction,
    nodes: Sequence[ForeignNode],
    rank: Rank = lambda ref: None,
) -> GradientSource:
    """Of a function whose backward consists of `nodes`. rank: of a tensor of the forward pass.
    Raises UnloweredError where it has what cannot be written."""
    made = GradientSource()
    names, ranks = _places(function), _Ranks(nodes, rank)
    lines: list[str] = []
    for node in nodes:
        if ForeignRef(node.name) in names:
            continue  # a cotangent
        lines.append(
            f"    {_variable(node.name)} = {_expression(node, names, ranks, made.captured)}"
        )
        names[ForeignRef(node.name)] = _variable(node.name)
    back = ["None" if ref is None else names.get(ref, "None") for ref in function.gradients]
    nothing = ["None"] * len(function.outputs)
    result = ", ".join([*nothing, *back, *["None"] * len(made.captured)])
    head = [f"def {key}(op, *grads):", *_remark(function)]
    made.text = "\n".join([*head, *lines, f"    return [{result}]", ""])
    return made


def _places(function: CustomFunction) -> dict[ForeignRef, str]:
    found = {ref: f"grads[{i}]" for i, ref in enumerate(function.cotangents)}
    ends = (*function.outputs, *function.inputs)
    return {ref: f"op.inputs[{i}]" for i, ref in enumerate(ends)} | found


class _Ranks:
    """How many axes tensors have: those of the backward, and of the forward pass."""

    def __init__(self, nodes: Sequence[ForeignNode], rank: Rank) -> None:
        self._own = {
            ForeignRef(node.name, i): len(told.shape)
            for node in nodes
            for i, told in enumerate(node.outputs)
        }
        self._rank = rank

    def __call__(self, ref: ForeignRef) -> int:
        found = self._own.get(ref, self._rank(ref))
        if found is None:
            raise UnloweredError(f"its backward has {ref.node}, whose axes are not told")
        return found


def _expression(
    node: ForeignNode, names: dict[ForeignRef, str], ranks: _Ranks, captured: list[ForeignRef]
) -> str:
    if node.op.startswith("lax."):
        return lax_expression(node, lambda value: _text(value, names, captured), ranks)
    kind = node.op.split(".")[1]
    if kind in _REDUCED and node.args.get("dtype") is None:
        x = _text(node.args["self"], names, captured)
        axes, keeps = node.args.get("dim") or None, bool(node.args.get("keepdim"))
        return f"tf.{_REDUCED[kind]}({x}, axis={axes}, keepdims={keeps})"
    write = EXPRESSIONS.get(kind)
    rest = {k: v for k, v in node.args.items() if k not in _TAKEN}
    odd = [k for k, v in rest.items() if v not in (None, False, [], 1)]
    if write is None or odd:
        raise UnloweredError(f"its backward has {node.op}{f' with {odd[0]}' if odd else ''}")
    given = [node.args[k] for k in _TAKEN if node.args.get(k) is not None]
    return write(*(_text(value, names, captured) for value in given))


def _text(value: Any, names: dict[ForeignRef, str], captured: list[ForeignRef]) -> str:
    if isinstance(value, ForeignRef):
        if value not in names:
            ends = sum(text.startswith("op.inputs") for text in names.values())
            captured.append(value)
            names[value] = f"op.inputs[{ends}]"
        return names[value]
    if isinstance(value, bool | int | float):
        return repr(float(value)) if value >= 0 else f"({float(value)!r})"
    raise UnloweredError(f"its backward has the argument {value!r:.40}")


def _variable(name: str) -> str:
    return "_" + "".join(c if c.isascii() and c.isalnum() else "_" for c in name)


def _remark(function: CustomFunction) -> list[str]:
    """Where it is from: comments, which text cannot end."""
    text = f"The backward of {function.name}, as it was traced; its source:\n{function.source}"
    return [f"    # {line}".rstrip() for line in text.splitlines()]
