"""Whether a wire may go from an output to an input, and if not, why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.errors import GradstepError
from core.graph.dtypes import TensorType
from core.graph.loop import anywhere, crossing, loops_around, surrounding
from core.graph.model import Edge, Graph, Operation, TensorRef
from core.ops.infer import Inference
from core.ops.opened import closed
from core.ops.table import InferContext, OpDef, find


class Wiring:
    """Answers for one output that is being wired. `upstream` is walked once."""

    def __init__(self, graph: Graph, inference: Inference, source: TensorRef) -> None:
        """inference: of the graph and what is in its loops."""
        self.source = source
        self._graph = graph
        self._inference = inference
        self._way = loops_around(graph, source.op)
        self._upstream = surrounding(graph, source.op).ancestors([source.op])

    def refusal(self, edge: Edge) -> str:
        """Why the wire must not go into `edge`; empty if it may."""
        edge = closed(self._graph, edge)
        if edge.op == self.source.op:
            return "an operation cannot read its own output"
        inner = (*loops_around(self._graph, edge.op), edge.op)
        if inner[: len(self._way)] != self._way:
            return crossing(self.source.op, edge.op, len(inner) > 1).message
        reader = inner[len(self._way)]  # beside the source: the operation, or a loop around it
        if reader in self._upstream:
            return f"{self.source.op} already depends on {reader}: this would close a cycle"
        op = anywhere(self._graph, edge.op)
        inputs = list(op.inputs)
        inputs[edge.index : edge.index + 1] = [self.source]
        return self._type_refusal(replace(op, inputs=tuple(inputs)), edge.index)

    def _type_refusal(self, op: Operation, index: int) -> str:
        definition = find(op.type)
        kinds = [None if ref is None else self._inference.types.get(ref) for ref in op.inputs]
        if definition is None or kinds[index] is None:
            return ""
        if _wants_ref(definition, index) and not kinds[index].ref:
            return f"{op.type} needs a variable here"
        if None in kinds:
            return ""  # the other inputs will tell
        try:
            definition.infer(InferContext(definition, op, [k for k in kinds if k is not None]))
        except GradstepError as error:
            return error.message
        except (IndexError, ValueError, TypeError):
            return ""  # its rule needs a value that only a run knows
        return ""


def accepts(definition: OpDef, kind: TensorType) -> bool:
    """Whether an op type could read a tensor of this type through its first input."""
    if not definition.inputs or (_wants_ref(definition, 0) and not kind.ref):
        return False
    if len(definition.inputs) > 1 or definition.inputs[0].variadic:
        return True
    op = Operation("new", definition.type, (TensorRef("source"),))
    try:
        definition.infer(InferContext(definition, op, [kind]))
    except GradstepError as error:
        return "attribute" in error.message  # it would do with its attributes set
    except (IndexError, ValueError, TypeError, KeyError):
        return True
    return True


def _wants_ref(definition: OpDef, index: int) -> bool:
    specs: Sequence[object] = definition.inputs
    return index < len(specs) and definition.inputs[index].ref
