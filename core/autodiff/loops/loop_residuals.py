"""Residuals of a loop: what its backward pass reads of the forward iterations, from their trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from gradstep.core.autodiff.loops.cond_liveness import Side, find_liveness
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.declare.table import branch_of

Bring = Callable[[Tensor, str], Tensor]  # a tensor from outside, and the argument's name


class LoopResiduals:
    """Takes what was made for the backward pass out of the graph of one iteration, `forward`.

    number: of the iteration; trace: of the loop, and outside: of the arguments that stay the same,
    the tensors around; bring: makes an argument of the backward loop.
    """

    def __init__(
        self,
        builder: GraphBuilder,
        forward: Graph,
        number: Tensor,
        trace: Tensor,
        outside: Mapping[str, Tensor],
        bring: Bring,
    ) -> None:
        self._builder, self._forward = builder, forward.operations
        self._number, self._trace, self._outside = number, trace, outside
        self._argument = bring
        self._lives = find_liveness(forward)
        self._brought: dict[TensorRef, TensorRef] = {}
        self._alive: dict[Side, str] = {}
        self._through: Tensor | None = None  # the trace in here

    def extract(self) -> Graph:
        """The operations of the backward pass, arguments first, then what is read."""
        made = [op for op in self._builder.build() if op.name not in self._forward]
        moved = {op.name: self._moved(op) for op in made}
        whole = self._builder.build()
        brought = [op for op in whole if op.name not in self._forward]
        arguments = {op.name: op for op in brought if op.type == "_Arg"}
        first = whole.ancestors([self._number.ref.op])
        early = {name: op for name, op in moved.items() if name in first}
        reads = {op.name: op for op in brought if op.name not in moved}
        return Graph.ordered({**arguments, **early, **reads, **moved})

    def _moved(self, op: Operation) -> Operation:
        controls = tuple(name for name in op.control_inputs if name not in self._forward)
        inputs = tuple(None if ref is None else self._source(ref) for ref in op.inputs)
        return replace(op, inputs=inputs, control_inputs=controls)

    def _source(self, ref: TensorRef) -> TensorRef:
        if ref.op not in self._forward:
            return ref
        if ref not in self._brought:
            self._brought[ref] = self._bring(ref).ref
        return self._brought[ref]

    def _bring(self, ref: TensorRef) -> Tensor:
        """A tensor of the forward pass: what was outside still is, constants are made again, which
        input was taken is found again, and the rest was kept."""
        op = self._forward[ref.op]
        name = ref.op if ref.index == 0 else f"{ref.op}_{ref.index}"
        if ref.op in self._outside:
            return self._argument(self._outside[ref.op], name)
        if op.type == "Const":
            return self._builder.one("Const", name=name, **op.attrs)
        if branch_of(op.type) == "merge" and ref.index == 1:
            return self._choice(op, name)
        if self._through is None:
            self._through = self._argument(self._trace, "trace")
        kind = self._builder.type_of(ref)
        (made,) = self._builder.op(
            "IterationValue",
            self._through,
            self._number,
            name=name,
            control_inputs=[self._alive_with(side) for side in self._life(ref)],
            tensor=str(ref),
            dtype=kind.dtype,
            shape=kind.shape,
        )
        return made

    def _life(self, ref: TensorRef) -> list[Side]:
        lives = self._lives.get(ref.op)
        return [] if lives is None else sorted(lives[ref.index], key=str)

    def _alive_with(self, side: Side) -> str:
        """An operation that is dead where the other side of a cond was taken."""
        if side not in self._alive:
            predicate = self._builder.get(self._source(side[0]))
            sides = self._builder.op("Switch", predicate, predicate, name=f"{side[0].op}_switch")
            alive = self._builder.one("Identity", sides[side[1]], name=f"{side[0].op}_alive")
            self._alive[side] = alive.ref.op
        return self._alive[side]

    def _choice(self, merge: Operation, name: str) -> Tensor:
        """Which input a Merge took, of those that are alive as its inputs were."""
        inputs: list[Tensor] = []
        for ref in merge.inputs:
            controls = [] if ref is None else [self._alive_with(side) for side in self._life(ref)]
            inputs += self._builder.op(
                "Identity", self._number, name=f"{name}_input", control_inputs=controls
            )
        return self._builder.op("Merge", *inputs, name=name)[1]
