"""What the user asks of differentiation: of what, with respect to what, and what is changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from gradstep.core.graph.model import Edge, Operation, TensorRef
from gradstep.core.graph.scopes import is_inside, parents


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

    @property
    def target_name(self) -> str:
        """What `target` names; of a scope without the slash at its end."""
        return self.target.rstrip("/") if self.kind is OverrideKind.SCOPE else self.target

    def matches(self, op: Operation) -> bool:
        if self.kind is OverrideKind.OP:
            return op.name == self.target
        if self.kind is OverrideKind.SCOPE:
            return is_inside(op.name, self.target)
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

_Ranked = tuple[int, int, str]  # how particular it is, its place in the list, its gradient


class OverrideTable:
    """Overrides by what they name, made once to be asked about many operations."""

    def __init__(self, overrides: Iterable[Override]) -> None:
        self._by: dict[OverrideKind, dict[str, _Ranked]] = {kind: {} for kind in OverrideKind}
        for place, one in enumerate(overrides):
            if one.enabled:
                ranked = (one.target.count("/"), place, one.gradient)
                known, named = self._by[one.kind], one.target_name
                known[named] = max(ranked, known.get(named, ranked))

    def gradient_name(self, op: Operation) -> str:
        """Name of the gradient to use for `op`: the most particular enabled override (op, then the
        deepest scope), then its own `_gradient_op_type`, then an override by type, else its native
        gradient: its type, or the type it stands for."""
        found = self._by[OverrideKind.OP].get(op.name) or self._of_scope(op.name)
        if found is None and op.gradient_op_type:
            return op.gradient_op_type
        found = found or self._by[OverrideKind.TYPE].get(op.type)
        return native_name(op) if found is None else found[2]

    def list_matching(self, op: Operation) -> list[str]:
        """The gradients of all overrides that match `op`, in force there or not."""
        kinds = OverrideKind
        places = [(kinds.TYPE, op.type), (kinds.OP, op.name)]
        if self._by[kinds.SCOPE]:
            places += [(kinds.SCOPE, scope) for scope in parents(op.name)]
        found = (self._by[kind].get(name) for kind, name in places)
        return [ranked[2] for ranked in found if ranked is not None]

    def _of_scope(self, name: str) -> _Ranked | None:
        scopes = self._by[OverrideKind.SCOPE]
        if not scopes:
            return None
        return max((scopes[scope] for scope in parents(name) if scope in scopes), default=None)


def gradient_name(op: Operation, overrides: Iterable[Override]) -> str:
    """The name of the gradient in force for `op`: see OverrideTable."""
    return OverrideTable(overrides).gradient_name(op)


def native_name(op: Operation) -> str:
    """Name of the gradient that `op` has when nothing overrides it."""
    return str(op.attrs.get(NATIVE_OP_TYPE, op.type))
