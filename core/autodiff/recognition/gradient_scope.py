"""The operations of one call of `tf.gradients`, sorted by what they are the gradient of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from gradstep.core.graph.loop import loop_of
from gradstep.core.graph.model import Graph, Operation, Phase, TensorRef

_TURN = re.compile(r"_grad(_\d+)?/")
_SUMS = frozenset({"AddN", "AccumulateNV2"})

Sum = tuple[TensorRef, ...]  # what is added up, in one order for all that add up the same


@dataclass(frozen=True, eq=False)
class GradientScope:
    """graph: all of it; name: of the scope ("gradients"), whose operations are of the backward
    phase and have the forward operation that they belong to as origin."""

    graph: Graph
    name: str

    @cached_property
    def members(self) -> dict[str, Operation]:
        """The operations of the scope, in order."""
        start = f"{self.name}/"
        every = (op for op in self.graph if op.phase is Phase.BACKWARD)
        return {op.name: op for op in every if op.name.startswith(start)}

    @cached_property
    def vjps(self) -> dict[str, list[Operation]]:
        """Forward operation -> what its gradient rule has made."""
        found: dict[str, list[Operation]] = {}
        for op in self.members.values():
            if op.origin and not self.is_loose(op):
                found.setdefault(op.origin, []).append(op)
        return found

    def is_loose(self, op: Operation) -> bool:
        """Whether no rule has made a member, but TensorFlow between two of them."""
        return loop_of(op) is None and _TURN.search(op.name, len(self.name)) is None

    @cached_property
    def sums(self) -> dict[Sum, TensorRef]:
        """What was added up where gradients meet -> their sum."""
        adding = (op for op in self.members.values() if op.type in _SUMS and self.is_loose(op))
        return {as_sum(ref for ref in op.inputs if ref is not None): op.output() for op in adding}

    @cached_property
    def joins(self) -> dict[Sum, TensorRef]:
        """What was put together where rows meet -> all of it."""
        joining = (o for o in self.members.values() if o.type == "ConcatV2" and self.is_loose(o))
        return {
            as_sum(ref for ref in o.inputs[:-1] if ref is not None): o.output() for o in joining
        }

    def find_readers(self, ref: TensorRef) -> Iterator[str]:
        """What reads a tensor of the scope: the forward operation whose VJP does, "" for what is
        between VJPs, and the name of what is outside. Another scope's operations do not count:
        they differentiate these."""
        for edge in self.graph.consumers[ref.op]:
            if self.graph.source(edge) != ref:
                continue
            op = self.graph[edge.op]
            if op.name in self.members:
                yield "" if self.is_loose(op) else op.origin
            elif op.phase is not Phase.BACKWARD:
                yield op.name


def as_sum(refs: Iterator[TensorRef]) -> Sum:
    """The same for the same tensors in another order."""
    return tuple(sorted(refs, key=str))
