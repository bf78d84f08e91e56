"""The VJP of one forward operation: its outputs' cotangents in, its inputs' cotangents out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gradstep.core.autodiff.reverse.backward_slice import BackwardSlice
from gradstep.core.autodiff.reverse.contributions import Contribution, Slices, total
from gradstep.core.autodiff.reverse.gradient_request import (
    GradientRequest,
    OverrideTable,
    native_name,
)
from gradstep.core.autodiff.reverse.gradient_results import Result, as_list, check_results
from gradstep.core.autodiff.reverse.gradient_rules import GradientFunction, call_rule, rule_of
from gradstep.core.autodiff.reverse.unbroadcast import sum_to_shape_of
from gradstep.core.autodiff.reverse.vjp_result import LoopGradients, VjpResult
from gradstep.core.autodiff.reverse.vjp_templates import Arrived, Key, VjpTemplates, tensors_given
from gradstep.core.graph.loop import Loop, loop_of
from gradstep.core.graph.model import Edge, Operation, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder, OpView, Tensor
from gradstep.core.ops.build.indexed_slices import IndexedSlices
from gradstep.core.ops.declare.table import find

Given = Tensor | IndexedSlices | None
# f(backward, op, loop, grads): the gradient rule of what runs a loop, which has to know what is
# asked for. What belongs to `op` is made in the current scope.
LoopRule = Callable[["OpVjp", Operation, Loop, Sequence[Tensor | None]], LoopGradients]


class OpVjp:
    """Takes the turns of the operations of `way`, each after those that read its outputs.

    loop_rule: the rule of loops; root: the scope of the whole differentiation.
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
        self.builder, self.way, self.root = builder, way, root
        self.request, self.functions, self.loop_rule = request, functions, loop_rule
        self._stopped = {ref.op for ref in request.stops}
        self._stopped |= {edge.op for edge in request.stopped_edges}
        self._overrides = OverrideTable(request.overrides)
        self._patterns = VjpTemplates(builder)

    def turn(self, op: Operation, arrived: Arrived) -> VjpResult:
        """arrived: at each output, what there is to be added up."""
        turn = VjpResult()
        if not any(arrived):
            return turn
        wanted = self.way.wanted(op)
        if any(wanted):
            turn.rule = self._overrides.gradient_name(op)
        elif max(map(len, arrived)) < 2:
            self._summed(turn, op, arrived)
            return turn
        self.builder.origin = op.name
        refs = tensors_given(op, arrived)
        key = self._key(op, turn.rule, arrived, refs, wanted)
        copied = self._patterns.copied(key, op, refs)
        if copied is not None:
            return copied
        scope = self._worked(turn, op, arrived, wanted)
        if key is not None:
            self._patterns.learn(key, turn, refs, scope)
        return turn

    def _key(
        self,
        op: Operation,
        rule: str,
        arrived: Arrived,
        refs: Sequence[TensorRef],
        wanted: Sequence[bool],
    ) -> Key | None:
        """Under which the turn can be copied; None where it cannot."""
        if rule in self.functions or op.name in self._stopped:
            return None
        asked = self.way.asked.get(op.name)
        known = () if asked is None else (*sorted(asked), self.way.is_live(op))
        return self._patterns.key(op, arrived, refs, (rule, *wanted, *known))

    def _worked(
        self, turn: VjpResult, op: Operation, arrived: Arrived, wanted: Sequence[bool]
    ) -> str:
        """Fills `turn`; its scope."""
        before = self.builder.size
        with self.builder.scope(f"{op.name}_grad") as scope:
            self._work(turn, op, arrived, wanted)
        turn.made = self.builder.size - before
        if turn.rule in self.functions:
            made = self.builder.latest(turn.made)
            turn.astray = not all(made.name.startswith(f"{scope}/") for made in made)
        return scope

    def _work(
        self,
        turn: VjpResult,
        op: Operation,
        arrived: Arrived,
        wanted: Sequence[bool],
    ) -> None:
        sums = self._summed(turn, op, arrived)
        if all(s is None for s in sums) or not any(wanted):
            return  # its rule is not wanted: nothing asked for lies before it
        loop = loop_of(op) if turn.rule == op.type else None
        if loop is not None:
            self._go_round(turn, op, loop, sums, wanted)
            return
        given = self._complete(turn, op, sums)
        passed = [s.dense for s in sums if s is not None]
        results = [self._own(op, r, given, sums, passed) for r in self._apply(turn, op, given)]
        self._pass_on(turn, op, self._gated(results), wanted)

    def _go_round(
        self,
        turn: VjpResult,
        op: Operation,
        loop: Loop,
        sums: Sequence[Contribution | None],
        wanted: Sequence[bool],
    ) -> None:
        """The turn of a loop: another loop that runs the iterations backward."""
        given = [None if s is None else Tensor(self.builder, s.dense) for s in sums]
        found = self.loop_rule(self, op, loop, given)
        turn.inside = found.inside
        self._leave_zeros(turn, op, sums)
        results = [None if g is None else Contribution.of(g) for g in found.inputs]
        self._pass_on(turn, op, self._gated(results), wanted)

    def _leave_zeros(
        self, turn: VjpResult, op: Operation, sums: Sequence[Contribution | None]
    ) -> None:
        """Zeros for those outputs of a loop that lead to nothing while others do, where they are
        asked for: as TensorFlow gives them, not None."""
        for index, ref in self.way.exits.get(op.name, {}).items():
            output = self.builder.get(ref)
            if sums[index] is None and (output.dtype.is_floating or output.dtype.is_complex):
                turn.gradients[ref] = self.builder.one("ZerosLike", output).ref

    def _summed(
        self, turn: VjpResult, op: Operation, arrived: Arrived
    ) -> list[Contribution | None]:
        """The summed gradient of each output, remembered as that output's gradient."""
        sums: list[Contribution | None] = []
        for index, parts in enumerate(arrived):
            if not parts:
                sums.append(None)
                continue
            summed = parts[0] if len(parts) == 1 else total(self.builder, parts)
            ref = TensorRef(op.name, index)
            turn.gradients[ref] = summed.dense
            if summed.rows is not None:
                turn.slices[ref] = Slices(summed.rows.values, summed.rows.indices)
            stopped = bool(self.request.stops) and ref in self.request.stops
            if stopped:
                self._block_all(turn, op, f"stop_gradient at {ref.short}")
            sums.append(None if stopped else summed)
        return sums

    def _complete(
        self, turn: VjpResult, op: Operation, sums: Sequence[Contribution | None]
    ) -> list[Given]:
        """What the rule is called with: rows where it takes them; zeros in place of None where
        another output of the same operation has a gradient. Who asks for that output's gradient
        gets them, as in TensorFlow, not None."""
        definition = None if turn.rule in self.functions else find(turn.rule)
        rows = definition is not None and definition.gradient.takes_slices
        given: list[Given] = [None if s is None else s.within(self.builder, rows) for s in sums]
        for index, grad in enumerate(given):
            if grad is not None:
                continue
            output = self.builder.get(op.output(index))
            if output.dtype.is_floating or output.dtype.is_complex:
                zeros = given[index] = self.builder.one("ZerosLike", output)
                if index in self.way.asked.get(op.name, ()) and self.way.is_live(op):
                    turn.gradients[output.ref] = zeros.ref
        return given

    def _apply(self, turn: VjpResult, op: Operation, given: Sequence[Given]) -> list[Result]:
        name, is_custom = turn.rule, turn.rule in self.functions
        view = OpView(self.builder, op)
        rule = rule_of(op, name, self.functions)
        results = as_list(call_rule(view, name, rule, given, custom=is_custom))
        native = native_name(op)
        if name != native:
            turn.custom = name
        elif name != op.type:
            results += [None] * (len(op.inputs) - len(results))
        definition = None if is_custom else find(name)
        summed = definition is not None and definition.broadcasts
        fitting = check_results(op, name, results, view, any_shape=summed)
        if not summed:
            return fitting
        results = [
            sum_to_shape_of(g, x) if isinstance(g, Tensor) else g
            for g, x in zip(fitting, view.inputs, strict=True)
        ]
        return check_results(op, name, results, view, any_shape=False)

    def _own(
        self,
        op: Operation,
        grad: Result,
        given: Sequence[Given],
        sums: Sequence[Contribution | None],
        passed: list[TensorRef],
    ) -> Contribution | None:
        """`grad` as a tensor that `op` made: what a rule passes on unchanged gets an Identity, as
        in TensorFlow, so that each forward operation has a backward step and each wire a value.
        passed: tensors that arrived, or go on over another wire."""
        if grad is None:
            return None
        known = (s for s, g in zip(sums, given, strict=True) if g is grad and s is not None)
        whole = next(known, None) or Contribution.of(grad)
        made_here = self.builder.operation(whole.dense.op).origin == op.name
        if made_here and whole.dense not in passed:
            passed.append(whole.dense)
            return whole
        dense = Tensor(self.builder, whole.dense)
        return Contribution(self.builder.one("Identity", dense).ref, whole.rows)

    def _gated(self, results: list[Contribution | None]) -> list[Contribution | None]:
        """With `gate`, none of an operation's gradients goes on before all of them are there."""
        made = [r.dense.op for r in results if r is not None]
        if not self.request.gate or len(made) < 2:
            return results
        with self.builder.scope("tuple"):
            together = self.builder.unique("group_deps")
            self.builder.op("NoOp", name="group_deps", control_inputs=tuple(dict.fromkeys(made)))
            return [r and self._after(together, r) for r in results]

    def _after(self, name: str, grad: Contribution) -> Contribution:
        dense = Tensor(self.builder, grad.dense)
        (held,) = self.builder.op(
            "Identity", dense, name="control_dependency", control_inputs=(name,)
        )
        return Contribution(held.ref, grad.rows)

    def _pass_on(
        self,
        turn: VjpResult,
        op: Operation,
        results: list[Contribution | None],
        wanted: Sequence[bool],
    ) -> None:
        for index, grad in enumerate(results):
            if not wanted[index]:
                results[index] = None  # nobody asked: it leads to no tensor of `wrt`
                continue
            edge = Edge(op.name, index)
            if grad is None:
                turn.blocked[edge] = self._why_none(turn, op, index)
            elif edge in self.request.stopped_edges:
                turn.blocked[edge] = "stop_gradient on this wire"
                results[index] = None
            else:
                turn.edges[edge] = grad.dense
        turn.sent = tuple(results)

    def _why_none(self, turn: VjpResult, op: Operation, index: int) -> str:
        if turn.custom:
            return f"gradient '{turn.custom}' returns None for this input"
        dtype = OpView(self.builder, op).inputs[index].dtype
        if not dtype.is_differentiable:
            return f"{dtype.value} values have no gradient"
        definition = find(op.type)
        if loop_of(op) is not None:
            return "nothing comes back to it from the loop's iterations"
        if definition is not None and not definition.gradient.differentiable:
            return f"{op.type} has no gradient"
        return f"{op.type} has no gradient for this input"

    def _block_all(self, turn: VjpResult, op: Operation, why: str) -> None:
        for index in range(len(op.inputs)):
            turn.blocked[Edge(op.name, index)] = why
