"""The graph around a block that is being made: what it may read of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gradstep.core.graph.dtypes import DType, TensorType
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.graph.scopes import is_inside
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.typing.inference import infer_declared


@dataclass
class Around:
    """A block is made in a builder of its own, so that the graph around it need not be sound;
    there, placeholders stand for what it reads from outside.

    types: of tensors outside, as far as known; the rest is worked out when it is asked for.
    """

    graph: Graph
    types: Mapping[TensorRef, TensorType]
    builder: GraphBuilder = field(default_factory=GraphBuilder)
    _stand_ins: dict[str, TensorRef] = field(default_factory=dict)

    def tensor(self, ref: TensorRef) -> Tensor:
        """What stands for a tensor outside."""
        for name, other in self._stand_ins.items():
            if other == ref:
                return self.builder.get(TensorRef(name))
        name = f"outside {len(self._stand_ins)}"
        kind = self.type_of(ref)
        attrs = {"dtype": kind.dtype, "shape": kind.shape}
        (stand_in,) = self.builder.add(Operation(name, "Placeholder", attrs=attrs))
        self._stand_ins[name] = ref
        return stand_in

    def share(self, scope: str) -> None:
        """Let variables in `scope` be found by their names."""
        shared = [op for op in self.graph if op.type == "VariableV2" and is_inside(op.name, scope)]
        for op in shared:
            self.builder.add(op)
            read = self.graph.operations.get(f"{op.name}/read")
            if read is not None and read.inputs == (op.output(),):
                self.builder.add(read)

    def made(self) -> list[Operation]:
        """What was added to the graph, reading what the stand-ins stand for."""
        ours = [op for op in self.builder.build() if op.name not in self._stand_ins]
        return [self._grafted(op) for op in ours if op.name not in self.graph]

    def reference(self, tensor: Tensor) -> TensorRef:
        """The tensor as the whole graph calls it."""
        return self._stand_ins.get(tensor.ref.op, tensor.ref)

    def _grafted(self, op: Operation) -> Operation:
        read = tuple(self._stand_ins.get(r.op, r) if r else r for r in op.inputs)
        return replace(op, inputs=read)

    def type_of(self, ref: TensorRef) -> TensorType:
        """Of a tensor outside; float32 where nothing is known."""
        known = self.types.get(ref) or infer_declared(self.graph).types.get(ref)
        # A variable's output is its buffer; what stands for it only has its type.
        kind = known or TensorType(DType.FLOAT32)
        return replace(kind, ref=False)
