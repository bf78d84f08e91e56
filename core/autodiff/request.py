"""What the user asks of differentiation: of what, with respect to what, and what is changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from core.graph.model import Edge, Operation, TensorRef


class OverrideKind(StrEnum):
    """What an override's target names."""

    TYPE = "type"
    SCOPE = "scope"
    OP = "op"


@dataclass(frozen=True, slots=True)
class Override:
    """Replace the gradient of some operations.

    gradient: name of a gradient: an op type whose rule is borrowed ("Identity"), or the name of
              a function in the document ("CustomAdd").
    target:   an op type, a scope, or an operation's name, as `kind` says.
    """

    gradient: str
    target: str
    kind: OverrideKind = OverrideKind.TYPE
    enabled: bool = True

    def matches(self, op: Operation) -> bool:
        if self.kind is OverrideKind.OP:
            return op.name == self.target
        if self.kind is OverrideKind.SCOPE:
            return op.name.startswith(self.target.rstrip("/") + "/")
        return op.type == self.target


@dataclass(frozen=True, slots=True)
class GradientRequest:
    """`gradients(of, wrt)` with its stops and overrides; frozen, and kept in the document.

    of:            tensors to differentiate; the sum of all their elements, as in TensorFlow.
    wrt:           tensors, or variables by the name of their operation.
    stops:         tensors through which nothing flows back (`stop_gradients`).
    stopped_edges: single wires through which nothing flows back.
    unconnected_zero: a gradient that does not exist is zeros (`unconnected_gradients="zero"`).
    grad_ys:       the gradient that arrives at each tensor of `of`, of its shape; None: ones.
    gate:          an operation's gradients go on only when all of them are there
                   (`gate_gradients`).
    """

    of: tuple[TensorRef, ...] = ()
    wrt: tuple[TensorRef, ...] = ()
    stops: frozenset[TensorRef] = frozenset()
    stopped_edges: frozenset[Edge] = frozenset()
    overrides: tuple[Override, ...] = ()
    unconnected_zero: bool = False
    grad_ys: tuple[TensorRef | None, ...] = ()
    gate: bool = False

    @classmethod
    def to(cls, of: str, *wrt: str) -> GradientRequest:
        """From names: `GradientRequest.to("loss", "c", "k")`."""
        return cls((TensorRef.parse(of),), tuple(TensorRef.parse(x) for x in wrt))


# On a Python function that stands for another op: that op's type. Its rule is the function's
# native gradient for the first inputs; the inputs the function has beyond those get None.
NATIVE_OP_TYPE = "_native_op_type"

_RANK = {OverrideKind.TYPE: 0, OverrideKind.SCOPE: 1, OverrideKind.OP: 2}


def gradient_name(op: Operation, overrides: Iterable[Override]) -> str:
    """Name of the gradient to use for `op`: the most particular enabled override (op, then the
    deepest scope), then its own `_gradient_op_type`, then an override by type, else its native
    gradient: its type, or the type it stands for."""
    ranked = [
        ((_RANK[o.kind], o.target.count("/"), i), o.gradient)
        for i, o in enumerate(overrides)
        if o.enabled and o.matches(op)
    ]
    by_place = [entry for entry in ranked if entry[0][0] > 0]
    if by_place:
        return max(by_place)[1]
    if op.gradient_op_type:
        return op.gradient_op_type
    return max(ranked)[1] if ranked else native_name(op)


def native_name(op: Operation) -> str:
    """Name of the gradient that `op` has when nothing overrides it."""
    return str(op.attrs.get(NATIVE_OP_TYPE, op.type))
