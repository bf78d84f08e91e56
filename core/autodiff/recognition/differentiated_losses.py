"""The tensors that an imported gradient scope differentiates: those where its gradients begin.

The gradient of a loss starts with ones of its shape, or with what the program gave. Nothing in a
GraphDef names the loss; it is the tensor whose gradient everything reads that reads the ones.
"""

from __future__ import annotations

import re

from gradstep.core.autodiff.recognition.gradient_scope import GradientScope
from gradstep.core.autodiff.recognition.vjp_reach import Reach
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.ops.declare.attribute_kinds import hinted_items
from gradstep.core.ops.typing.inference import infer_declared

_SEED = re.compile(r"/(grad_ys_\d+|Fill(_\d+)?|ones(_like)?(_\d+)?)$")
_FAR = 12  # operations behind the last gradient in which the loss is looked for
_SHAPES = frozenset({"Shape", "OnesLike"})  # what is asked of a loss, to make ones like it


def find_differentiated(scope: GradientScope) -> dict[TensorRef, TensorRef]:
    """The tensors that were differentiated -> what the gradient of each starts with; those that
    cannot be told are left out."""
    search = _Search(scope)
    starts = (op.output() for op in scope.members.values() if search.is_start(op))
    found = ((search.loss_of(start), start) for start in starts)
    return {loss: start for loss, start in found if loss is not None}


class _Search:
    def __init__(self, scope: GradientScope) -> None:
        self._scope, self._graph = scope, scope.graph
        self._reach = Reach(scope, infer_declared(scope.graph).types)
        self._rank = {name: number for number, name in enumerate(self._graph.operations)}

    def is_start(self, op: Operation) -> bool:
        """Whether a gradient starts with what `op` makes."""
        if not self._scope.is_loose(op) or not _SEED.search(op.name):
            return False
        kind = infer_declared(self._graph).types.get(op.output())
        carries = kind is not None and (kind.dtype.is_floating or kind.dtype.is_complex)
        return bool(carries and self._readers(op.output()))

    def loss_of(self, start: TensorRef) -> TensorRef | None:
        """The tensor whose gradient starts with `start`."""
        said = self._measured(start) or self._beside(start)
        if said is not None:
            return said
        readers = self._readers(start)
        refs = map(TensorRef, self._from(readers))
        found = next((ref for ref in refs if self._begins_at(ref, start, readers)), None)
        return None if found is None else self._named(found, start)

    def _measured(self, start: TensorRef) -> TensorRef | None:
        """The tensor whose shape is asked for, to make ones of it."""
        shape = next(iter(self._graph[start.op].inputs), None)
        if shape is None or self._graph[shape.op].type not in _SHAPES:
            return None
        return self._graph[shape.op].inputs[0]

    def _beside(self, start: TensorRef) -> TensorRef | None:
        """The tensor that it is placed with, where the program asked for that."""
        for text in hinted_items(self._graph[start.op], "_class"):
            name = str(text).removeprefix("loc:@")
            if name in self._graph and name not in self._scope.members:
                return TensorRef(name)
        return None

    def _readers(self, ref: TensorRef) -> frozenset[str]:
        """The operations whose VJPs read a tensor, or a sum that it is part of."""
        found = {name for name in self._scope.find_readers(ref) if name in self._scope.vjps}
        for parts, total in self._scope.sums.items():
            if ref in parts:
                found |= self._readers(total)
        return frozenset(found)

    def _from(self, names: frozenset[str]) -> list[str]:
        """These operations and those that read what they make, in order."""
        found = {name for name in names if name in self._graph}  # a gradient outlives what it is of
        last = {*found}
        for _ in range(_FAR):
            edges = (edge for name in last for edge in self._graph.consumers[name])
            last = {edge.op for edge in edges if edge.op not in self._scope.members} - found
            found |= last
        return sorted(found, key=self._rank.__getitem__)

    def _begins_at(self, ref: TensorRef, start: TensorRef, readers: frozenset[str]) -> bool:
        """Whether all that reads `start` can be reading the gradient of `ref`."""
        if not self._reach.is_like(ref, start):
            return False
        own = ref.op not in self._scope.vjps or ref.op in readers
        return own and readers <= self._reach.vjps_behind(ref.op)

    def _named(self, ref: TensorRef, start: TensorRef) -> TensorRef:
        """`ref`, or what an Identity behind it calls it, where that was there before."""
        while True:
            edges = self._graph.consumers[ref.op]
            behind = [self._graph[e.op] for e in edges if self._graph.source(e) == ref]
            names = [op.name for op in behind if op.type == "Identity"]
            before = [name for name in names if self._rank[name] < self._rank[start.op]]
            if len(before) != 1 or before[0] in self._scope.members:
                return ref
            ref = TensorRef(before[0])
