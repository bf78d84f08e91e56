"""Boxes: what stands on the canvas for one operation, or for a scope that is collapsed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.graph.foreign_origin import FOREIGN_SCOPE
from gradstep.core.graph.model import PYTHON_OPS, Graph, Operation, Phase
from gradstep.core.ops.declare.placeable_ops import device_that_computes
from gradstep.core.ops.declare.table import find
from gradstep.core.ops.typing.inference import Inference

# Stripe of a node's title row: the theme colour of its family.
KINDS = ("muted", "update", "forward", "backward", "override")
INPUT, VARIABLE, COMPUTE, GRADIENT, CUSTOM = range(len(KINDS))
_INPUTS = frozenset({"Placeholder", "PlaceholderWithDefault", "Const"})
_VARIABLES = frozenset({"Variable", "VariableV2", "VarHandleOp"})


_NONE: frozenset[int] = frozenset()


class Box(NamedTuple):
    """An operation, or a collapsed scope: then `id` ends in "/" and `members` lie inside. A stack
    of equal scopes is called after the first of them.

    kind: index into KINDS; inputs, outputs: number of ports; has_value, has_gradient: whether it
    has a row for each; open_inputs: ports without a wire; variadic: the last port adds an input.
    stack: the scopes, in their order; none where it is one. is_foreign: a scope that is what one
    operation of another framework became. devices: that compute it, or some of a scope, where those
    are others than that of the run.
    """

    id: str
    type: str
    kind: int
    inputs: int
    outputs: int
    has_value: bool
    has_gradient: bool
    members: tuple[str, ...]
    open_inputs: frozenset[int] = _NONE
    stack: tuple[str, ...] = ()
    is_foreign: bool = False
    devices: tuple[str, ...] = ()

    @property
    def is_scope(self) -> bool:
        return self.id.endswith("/")

    @property
    def name(self) -> str:
        """For people: "a/h/0", of a stack "a/h/0 … 11"."""
        return self.id.rstrip("/") + (f" … {last_part(self.stack[-1])}" if self.stack else "")

    @property
    def scopes(self) -> tuple[str, ...]:
        """Those that it shows; none for an operation."""
        return self.stack or ((self.id[:-1],) if self.is_scope else ())


def scope_box(id: str, members: Sequence[Operation], stack: tuple[str, ...] = ()) -> Box:
    """A scope, or a stack of them, with all that lies inside."""
    each = len(members) // max(1, len(stack))
    count = f"{each} op{'s' if each > 1 else ''}"
    told = f"×{len(stack)} · {count} each" if stack else count
    names = tuple(op.name for op in members)
    foreign = any(op.attrs.get(FOREIGN_SCOPE) == id[:-1] for op in members[:1])
    placed = _devices_of(op for op in members if op.device)
    return Box(id, told, COMPUTE, 1, 1, False, False, names, _NONE, stack, foreign, placed)


def last_part(scope: str) -> str:
    """What a scope is called without those around it."""
    return scope.rpartition("/")[2]


class Boxes:
    """Makes the boxes of a graph's operations. `passed`: those with a gradient at all."""

    def __init__(
        self, graph: Graph, inference: Inference, request: GradientRequest, passed: Collection[str]
    ) -> None:
        self._graph = graph
        self._typed = inference.types.of
        self._asked = {ref.op for ref in request.of}
        self._passed = passed
        self._types: dict[str, tuple[int | None, int]] = {}

    def box(self, op: Operation) -> Box:
        kind, spare = self._types.get(op.type) or self._look_up(op.type)
        ports = len(op.inputs) + spare
        outputs = self._output_count(op)
        gaps = spare or None in op.inputs
        return Box(
            op.name,
            op.type,
            self._kind(op, kind),
            ports,
            outputs,
            outputs > 0,
            op.name in self._passed,
            (op.name,),
            _open(op, ports) if gaps else _NONE,
            devices=_devices_of((op,)) if op.device else (),
        )

    def _look_up(self, type: str) -> tuple[int | None, int]:
        """Of an op type: the kind, if all of it are of one, and the ports that add an input."""
        definition = find(type)
        spare = definition is not None and definition.lists == 1 and definition.inputs[-1].variadic
        found = self._types[type] = (_kind_of(type), int(spare))
        return found

    def _kind(self, op: Operation, of_type: int | None) -> int:
        if op.phase is Phase.UPDATE and of_type != INPUT:
            return VARIABLE
        if of_type is not None:
            return of_type
        from_loss = op.name in self._asked
        return GRADIENT if from_loss or op.phase is Phase.BACKWARD else COMPUTE

    def _output_count(self, op: Operation) -> int:
        """As typed; for an op that could not be typed as declared, and at least what is used."""
        typed = self._typed.get(op.name)
        if typed:
            return len(typed)
        wires = (self._graph.source(edge) for edge in self._graph.consumers[op.name])
        used = (ref.index + 1 for ref in wires if ref is not None)
        return max([declared_outputs(op.type), *used])


def declared_outputs(type: str) -> int:
    """How many outputs an operation of this type has, as far as its declaration says."""
    definition = find(type)
    return len(definition.outputs) if definition else 0


def _devices_of(placed: Iterable[Operation]) -> tuple[str, ...]:
    """Those that compute some operations, but for that of the run."""
    return tuple(sorted({*map(device_that_computes, placed)} - {""}))


def _kind_of(type: str) -> int | None:
    """Of an op type; None where it depends on the operation's part in the step."""
    if type in _INPUTS:
        return INPUT
    if type in _VARIABLES or type.startswith("Apply"):
        return VARIABLE
    return CUSTOM if type in PYTHON_OPS else None


def _open(op: Operation, ports: int) -> frozenset[int]:
    """The ports without a wire."""
    return frozenset(i for i in range(ports) if op.inputs[i : i + 1] in ((), (None,)))
