"""The backward pass over one graph: seeds first, then one VJP after the other."""

from __future__ import annotations

from collections.abc import Mapping

from gradstep.core.autodiff.reverse.backward_slice import BackwardSlice
from gradstep.core.autodiff.reverse.contributions import Contribution
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.autodiff.reverse.gradient_rules import GradientFunction
from gradstep.core.autodiff.reverse.op_vjp import LoopRule, OpVjp
from gradstep.core.autodiff.reverse.vjp_result import VjpResult
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder


class BackwardPass:
    """Adds the gradient operations of `way` to `builder`, which has the operations of its graph.

    seeds: operation -> what its outputs start with. turns: those that were taken.
    """

    def __init__(
        self,
        builder: GraphBuilder,
        way: BackwardSlice,
        request: GradientRequest,
        functions: Mapping[str, GradientFunction],
        loop_rule: LoopRule,
        root: str = "",
    ) -> None:
        self.builder, self.way = builder, way
        self.backward = OpVjp(builder, way, request, functions, loop_rule, root)
        self.seeds: dict[str, list[tuple[int, Contribution]]] = {}
        self.turns: dict[str, VjpResult] = {}

    def seed(self, ref: TensorRef, first: Contribution) -> None:
        """Let `ref` start with this gradient, besides what comes back to it."""
        self.seeds.setdefault(ref.op, []).append((ref.index, first))

    def walk(self) -> None:
        """Take every turn."""
        for name, op in self.way.path.items():
            self.turns[name] = self.turn(op)

    def turn(self, op: Operation) -> VjpResult:
        """The turn of `op`, once those that read its outputs had theirs."""
        arrived: list[list[Contribution]] = [[] for _ in range(self.builder.output_count(op.name))]
        for output, first in self.seeds.get(op.name, ()):
            arrived[output].append(first)
        for output, reader, index in self.way.arrivals.get(op.name, ()):
            sent = self.turns[reader].sent
            if sent and (part := sent[index]) is not None:
                arrived[output].append(part)
        return self.backward.turn(op, arrived)
