"""Backpropagation: from the loss back, each operation's cotangents are summed and its VJP is built.

autograd's `backward_pass` in the words of this file:

    cotangents = {loss: [seed]}
    for op in reversed(topological order):           # run, over BackwardSlice.path
        gradients = vjp(op, sum(cotangents[op]))     # visit, _sum, _call_rule
        for x, gradient in zip(op.inputs, gradients):
            cotangents[x].append(gradient)           # _send, _contributions_to

A cotangent is a tensor and a VJP the operations that compute it: nothing runs here. None is no
gradient, which is not zeros. Around the pass, and unknown to it: `vjp_templates` copies VJPs that
are alike, `vjp_reuse` keeps those of the pass before an edit, `while_vjp` is the rule of a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gradstep.core.autodiff.reverse.backward_slice import BackwardSlice
from gradstep.core.autodiff.reverse.contributions import Contribution, Slices, sum_contributions
from gradstep.core.autodiff.reverse.gate_gradients import gate
from gradstep.core.autodiff.reverse.gradient_end import STOPPED_ON_WIRE, stopped_at
from gradstep.core.autodiff.reverse.gradient_request import (
    GradientRequest,
    OverrideTable,
    native_name,
)
from gradstep.core.autodiff.reverse.gradient_rules import GradientFunction, takes_slices
from gradstep.core.autodiff.reverse.rule_call import Cotangent, call_rule, find_end
from gradstep.core.autodiff.reverse.vjp_result import LoopGradients, VjpResult
from gradstep.core.cancellation import check_cancelled
from gradstep.core.graph.loop import Loop, loop_of
from gradstep.core.graph.model import Edge, Operation, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder, OpView, Tensor

# f(backward, op, loop, cotangents): the gradient rule of what runs a loop, which has to know what
# is asked for. What belongs to `op` is made in the current scope.
LoopRule = Callable[["BackwardPass", Operation, Loop, Sequence[Tensor | None]], LoopGradients]
Contributions = Sequence[Sequence[Contribution]]  # to each output: what there is to be summed


class BackwardPass:
    """Adds the VJPs of the operations of `backward_slice` to `builder`, which has its graph.

    seeds: operation -> what its outputs start with.
    vjps:  operation -> what came of the visit to it.
    root:  the scope of the whole differentiation.
    """

    def __init__(
        self,
        builder: GraphBuilder,
        backward_slice: BackwardSlice,
        request: GradientRequest,
        functions: Mapping[str, GradientFunction],
        loop_rule: LoopRule,
        root: str,
    ) -> None:
        self.builder, self.slice, self.root = builder, backward_slice, root
        self.request, self.functions, self.loop_rule = request, functions, loop_rule
        self.seeds: dict[str, list[tuple[int, Contribution]]] = {}
        self.vjps: dict[str, VjpResult] = {}
        self._overrides = OverrideTable(request.overrides)

    def nest(self, builder: GraphBuilder, backward_slice: BackwardSlice) -> BackwardPass:
        """A pass over another graph, one iteration of a loop, for the same request."""
        given = self.request, self.functions, self.loop_rule, self.root
        return type(self)(builder, backward_slice, *given)

    def seed(self, ref: TensorRef, cotangent: Contribution) -> None:
        """Let `ref` start with this cotangent, besides those that come back to it."""
        self.seeds.setdefault(ref.op, []).append((ref.index, cotangent))

    def run(self) -> None:
        """Visit every operation, the last one first: all that read an operation's outputs have
        sent their contributions before. TensorFlow takes what is ready first come, first served;
        here it is the forward order in reverse, as one steps back through it. Only the order of
        what is summed has to be TensorFlow's."""
        for name, op in self.slice.path.items():
            check_cancelled()
            self.vjps[name] = self.visit(op)

    def visit(self, op: Operation) -> VjpResult:
        """What goes on from `op`, of what has come back to it."""
        contributions = self._contributions_to(op)
        if not any(contributions):
            return VjpResult(op.name)  # its gradient is None: no rule is called
        needs_grad = self.slice.needs_input_grad(op)
        if not any(needs_grad) and max(map(len, contributions)) < 2:
            leaf = VjpResult(op.name)  # such as a weight: what came back is its gradient as it is
            self._sum(leaf, op, contributions)
            return leaf
        rule = self._overrides.gradient_name(op) if any(needs_grad) else ""
        self.builder.origin = op.name
        return self.build_vjp(op, rule, contributions, needs_grad)

    def build_vjp(
        self, op: Operation, rule: str, contributions: Contributions, needs_grad: Sequence[bool]
    ) -> VjpResult:
        """The operations of `op`'s VJP, in a scope of their own, as TensorFlow has them.

        rule: the gradient's name, of an op type or of the user's function; "": none.
        needs_grad: which inputs lead to what is asked for."""
        vjp = VjpResult(op.name, rule=rule)
        with self.builder.scope(f"{op.name}_grad") as vjp.scope:
            cotangents = self._sum(vjp, op, contributions)
            if any(needs_grad) and any(c is not None for c in cotangents):
                gradients = self._call_rule(vjp, op, cotangents)
                if self.request.gate:
                    gradients = gate(self.builder, gradients)
                self._send(vjp, op, gradients, needs_grad)
        return vjp

    def _contributions_to(self, op: Operation) -> Contributions:
        """To each output: its seeds, then what its readers have sent, in the order in which
        TensorFlow adds them up (`tf_gradient_order`), on which the sum's last bits depend."""
        found: list[list[Contribution]] = [[] for _ in range(self.builder.output_count(op.name))]
        for output, seed in self.seeds.get(op.name, ()):
            found[output].append(seed)
        for wire in self.slice.arrivals.get(op.name, ()):
            contribution = self.vjps[wire.op].contribution(wire.index)
            if contribution is not None:
                found[self.slice.output_at(wire)].append(contribution)
        return found

    def _sum(
        self, vjp: VjpResult, op: Operation, contributions: Contributions
    ) -> list[Contribution | None]:
        """Each output's cotangent, which is the gradient of that output. A tensor that is stopped
        has its gradient, too, but the rule does not get it: nothing flows on from there."""
        sums = [
            sum_contributions(self.builder, parts) if parts else None for parts in contributions
        ]
        vjp.held = tuple([None if whole is None else whole.dense for whole in sums])
        for index, whole in enumerate(sums):
            if whole is None:
                continue
            ref = TensorRef(op.name, index)
            if whole.rows is not None:
                slices = Slices(whole.rows.values, whole.rows.indices)
                vjp.slices = {**vjp.slices, ref: slices}
            if ref in self.request.stops:
                wires = (Edge(op.name, i) for i in range(len(op.inputs)))
                vjp.blocked = dict.fromkeys(wires, stopped_at(ref))
                sums[index] = None
        return sums

    def _call_rule(
        self, vjp: VjpResult, op: Operation, cotangents: Sequence[Contribution | None]
    ) -> list[Contribution | None]:
        """What the rule makes of the cotangents: a contribution to each input. A loop's own rule
        is another loop, around a pass over one iteration; an override comes before that."""
        loop = loop_of(op) if vjp.rule == op.type else None
        if loop is not None:
            whole = [None if c is None else Tensor(self.builder, c.dense) for c in cotangents]
            found = self.loop_rule(self, op, loop, whole)
            vjp.inside = found.inside
            vjp.zeros = found.zeros
            return [None if g is None else Contribution.of(g) for g in found.inputs]
        if vjp.rule != native_name(op):
            vjp.custom = vjp.rule
        given = self._fill_zeros(vjp, op, cotangents)
        results = call_rule(self.builder, op, vjp.rule, self.functions, given)
        known = {id(g): c for g, c in zip(given, cotangents, strict=True) if c is not None}
        used = {c.dense for c in cotangents if c is not None}
        return [
            None if g is None else self._make_own(op, known.get(id(g)) or Contribution.of(g), used)
            for g in results
        ]

    def _fill_zeros(
        self, vjp: VjpResult, op: Operation, cotangents: Sequence[Contribution | None]
    ) -> list[Cotangent]:
        """What the rule is called with: rows where it takes them; zeros in place of None where
        another output of the operation has a cotangent. Who asks for that output's gradient gets
        these zeros, as in TensorFlow, not None."""
        rows = vjp.rule not in self.functions and takes_slices(vjp.rule)
        given = [None if c is None else c.bind(self.builder, rows) for c in cotangents]
        held = [*vjp.held]
        for index in [i for i, c in enumerate(given) if c is None]:
            output = self.builder.get(op.output(index))
            if output.dtype.is_floating or output.dtype.is_complex:
                zeros = given[index] = self.builder.one("ZerosLike", output)
                if index in self.slice.asked.get(op.name, ()) and self.slice.is_live(op):
                    held[index] = zeros.ref
        vjp.held = tuple(held)
        return given

    def _make_own(
        self, op: Operation, gradient: Contribution, used: set[TensorRef]
    ) -> Contribution:
        """`gradient` as a tensor that `op` made: what a rule passes on unchanged, or twice, gets
        an Identity, so that each operation has a backward step and each wire a tensor of its own.
        used: tensors that arrived, or go on over another wire."""
        made_here = self.builder.operation(gradient.dense.op).origin == op.name
        if made_here and gradient.dense not in used:
            used.add(gradient.dense)
            return gradient
        dense = Tensor(self.builder, gradient.dense)
        return Contribution(self.builder.one("Identity", dense).ref, gradient.rows)

    def _send(
        self,
        vjp: VjpResult,
        op: Operation,
        gradients: Sequence[Contribution | None],
        needs_grad: Sequence[bool],
    ) -> None:
        """Let the gradients go on over the wires, but for stopped ones; say why others have none.
        What leads to nothing that is asked for ends here without a word."""
        sent: list[TensorRef | None] = [None] * len(gradients)
        blocked = dict(vjp.blocked)
        for index, gradient in enumerate(gradients):
            if not needs_grad[index]:
                continue
            edge = Edge(op.name, index)
            if gradient is None:
                x = OpView(self.builder, op).inputs[index]
                blocked[edge] = find_end(op, x.dtype, vjp.custom)
            elif edge in self.request.stopped_edges:
                blocked[edge] = STOPPED_ON_WIRE
            else:
                sent[index] = gradient.dense
                if gradient.rows is not None:
                    vjp.rows = {**vjp.rows, index: gradient.rows}
        vjp.sent = tuple(sent)
        if blocked:
            vjp.blocked = blocked
