"""The VJP of a loop: another loop, which runs the iterations backward.

Its body is a backward pass over one iteration. The residuals that this needs come from the loop's
trace, by the number of the iteration. Cotangents of the loop variables go round; those of what was
read from outside add up. TensorFlow does the same, but for the stacks on which it keeps values;
and as in TensorFlow, nothing goes back a second time through what was kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from gradstep.core.autodiff.loops.iteration_graph import free_shapes, make_iteration_graph
from gradstep.core.autodiff.loops.loop_dependencies import find_arguments_before, list_sources
from gradstep.core.autodiff.loops.loop_invariant_sums import (
    Gradient,
    add_to_sum,
    append_rows,
    finish_sum,
)
from gradstep.core.autodiff.loops.loop_residuals import LoopResiduals
from gradstep.core.autodiff.reverse.backward_pass import BackwardPass
from gradstep.core.autodiff.reverse.backward_slice import BackwardSlice
from gradstep.core.autodiff.reverse.contributions import Contribution
from gradstep.core.autodiff.reverse.vjp_result import LoopGradients, VjpResult
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, TensorType
from gradstep.core.graph.loop import Loop
from gradstep.core.graph.model import Operation, Phase, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.declare.table import find
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.ops.typing.loop_types import iteration_types

_ONE = np.array(1, np.int32)


def loop_gradients(
    around: BackwardPass, op: Operation, loop: Loop, given: Sequence[Tensor | None]
) -> LoopGradients:
    """The gradients of the inputs of `op`, which runs `loop`, from those of its outputs.

    The LoopRule of `around`, in whose graph `op` is, and of what goes back through its iterations.
    Raises GradstepError in TensorFlow's words for a loop that is a VJP itself."""
    builder = around.builder
    types = [builder.type_of(ref) for ref in op.inputs if ref is not None]
    if any(kind.dtype is DType.VARIANT for kind in types):
        _refuse(around.slice, op, given)
        return LoopGradients([None] * len(types), {}, _zeros(around, op, given))
    names = [str(ref) for ref in op.inputs]
    kinds = iteration_types(loop, types, names).arguments
    inputs, vjps = _LoopReverse(around, op, loop, given, kinds).run()
    return LoopGradients(inputs, vjps, _zeros(around, op, given))


def _zeros(
    around: BackwardPass, op: Operation, given: Sequence[Tensor | None]
) -> dict[TensorRef, TensorRef]:
    """Zeros for those outputs of the loop that lead to nothing while others do, where they are
    asked for: as TensorFlow gives them, not None."""
    zeros: dict[TensorRef, TensorRef] = {}
    for index, ref in around.slice.exits.get(op.name, {}).items():
        output = around.builder.get(ref)
        if given[index] is None and (output.dtype.is_floating or output.dtype.is_complex):
            zeros[ref] = around.builder.one("ZerosLike", output).ref
    return zeros


def _refuse(backward_slice: BackwardSlice, op: Operation, given: Sequence[Tensor | None]) -> None:
    """Fail if a gradient would have to go on over an input of the loop."""
    outputs = [op.output(index) for index, grad in enumerate(given) if grad is not None]
    stack = [ref for output in outputs for ref in list_sources(backward_slice.graph, output)]
    seen: set[TensorRef] = set()
    while stack:
        ref = stack.pop()
        source = backward_slice.path.get(ref.op)
        if source is None or ref in seen or _is_opaque(backward_slice, ref):
            continue
        if source.name in backward_slice.asked:
            raise GradstepError(
                "Second-order gradient for while loops not supported.",
                kind="TypeError",
                node=op.name,
                hint="write the loop out, or stop the gradient before it",
            )
        seen.add(ref)
        definition = find(source.type)
        if definition is not None and definition.gradient.differentiable:
            stack.extend(list_sources(backward_slice.graph, ref))


def _is_opaque(backward_slice: BackwardSlice, ref: TensorRef) -> bool:
    return backward_slice.types[ref].dtype is DType.VARIANT


class _LoopReverse:
    """The backward loop of one loop, in the making. kinds: types of the loop's arguments."""

    def __init__(
        self,
        around: BackwardPass,
        op: Operation,
        loop: Loop,
        given: Sequence[Tensor | None],
        kinds: Sequence[TensorType],
    ) -> None:
        self.around, self.op, self.loop, self.given = around, op, loop, given
        self.outer = outer = around.builder
        self.scope = f"{outer.scope_name}/While"  # of what is inside, and the loop's name
        self.kinds = dict(zip(loop.arguments, kinds, strict=True))
        self.sources = {n: r for n, r in zip(loop.arguments, op.inputs, strict=True) if r}
        self.forward = make_iteration_graph(loop, self.kinds)
        self.builder = GraphBuilder(self.forward)
        self.active = self._active()
        self.asked = [
            name
            for name, wants in zip(loop.arguments, around.slice.needs_input_grad(op), strict=True)
            if wants and name in loop.captures and self.kinds[name].dtype.is_differentiable
        ]
        self.inputs: list[Tensor] = []  # of the backward loop
        self.names: list[str] = []  # of its arguments

    def run(self) -> tuple[list[Gradient | None], Mapping[str, VjpResult]]:
        """The gradient of each input of the loop, and the VJPs in its body."""
        inner = self.builder
        with inner.belonging_to(self.op.name, Phase.BACKWARD), inner.as_default():
            cond, number, arriving = self._beginning()
            gradients, vjps = self._differentiate(arriving)
            inner.origin = self.op.name
            with inner.scope(f"{self.scope}/"):
                results = [number, *(self._next(n, arriving[n], gradients) for n in self.active)]
                sums = self._sums(gradients, vjps)
                made = self._loop(cond, [*results, *chain.from_iterable(sums.values())])
        left = iter(made)
        found: dict[str, Gradient] = {name: next(left) for name in self.active}
        for name, parts in sums.items():
            found[name] = finish_sum([next(left) for _ in parts], self._source(name))
        return [found.get(name) for name in self.loop.arguments], vjps

    def _sums(
        self, gradients: Mapping[TensorRef, TensorRef], vjps: Mapping[str, VjpResult]
    ) -> dict[str, list[Tensor]]:
        """Of each tensor outside that is asked for, what adds up its gradients."""
        get, found = self.builder.get, dict[str, list[Tensor]]()
        for name in self.asked:
            ref, around = TensorRef(name), (self._source(name), self._argument)
            if ref not in gradients:
                continue
            rows = vjps[name].slices.get(ref)
            if rows is None:
                found[name] = add_to_sum(get(gradients[ref]), *around)
            else:
                found[name] = append_rows(get(rows.values), get(rows.indices), *around)
        return found

    def _source(self, name: str) -> Tensor:
        """What an argument is outside."""
        return self.outer.get(self.sources[name])

    def _beginning(self) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """Whether there is another iteration, the number of the forward one that it goes
        back through, and what comes back to it."""
        with self.builder.scope(f"{self.scope}/"):
            counter = self._argument(self.outer.one("IterationCount", self._trace), "Merge")
            cond = self.builder.one("LoopCond", self.builder.one("GreaterEqual", counter, _ONE))
            number = self.builder.one("Sub", counter, _ONE)
            return cond, number, {name: self._arriving(name) for name in self.active}

    @property
    def _trace(self) -> Tensor:
        return self.outer.get(self.op.output(len(self.loop.variables)))

    def _active(self) -> list[str]:
        """Loop variables that what comes back leads to, in one iteration or in several."""
        numbered = zip(self.loop.variables, self.given, strict=False)
        first = [name for name, grad in numbered if grad is not None]
        found = find_arguments_before(self.loop, first)
        return [name for name in self.loop.variables if name in found]

    def _argument(self, source: Tensor, name: str) -> Tensor:
        """An argument of the backward loop, in the current scope."""
        kind = source.type
        made = self.builder.one("_Arg", name=name, T=kind.dtype, shape=kind.shape, ref=kind.ref)
        self.inputs.append(source)
        self.names.append(made.ref.op)
        return made

    def _arriving(self, name: str) -> Tensor:
        """What comes back to a loop variable from the iteration after."""
        index = self.loop.variables.index(name)
        grad = self.given[index]
        if grad is None:
            grad = self.outer.one("ZerosLike", self.outer.get(self.op.output(index)))
        return self._argument(grad, "Merge")

    def _differentiate(
        self, arriving: Mapping[str, Tensor]
    ) -> tuple[dict[TensorRef, TensorRef], Mapping[str, VjpResult]]:
        """The gradients of one iteration, and the VJPs that they come from."""
        results = dict(zip(self.loop.variables, self.loop.results, strict=True))
        of = tuple(results[name] for name in self.active)
        wrt = tuple(TensorRef(name) for name in (*self.active, *self.asked))
        types = infer_declared(self.forward).types
        inner = self.around.nest(self.builder, BackwardSlice(self.forward, types, of, wrt))
        for name, grad in arriving.items():
            inner.seed(results[name], Contribution(grad.ref))
        with self.builder.scope(f"{inner.root}/"):
            inner.run()
        found: dict[TensorRef, TensorRef] = {}
        for vjp in inner.vjps.values():
            found.update(vjp.gradients)
        return found, inner.vjps

    def _next(
        self, name: str, arriving: Tensor, gradients: Mapping[TensorRef, TensorRef]
    ) -> Tensor:
        """What goes back to the iteration before: zeros where nothing came through."""
        grad = gradients.get(TensorRef(name))
        if grad is not None:
            return self.builder.get(grad)
        value = self.builder.get(TensorRef(name))
        same = value.shape.is_static
        return self.builder.one("ZerosLike", arriving if same else value)

    def _loop(self, cond: Tensor, results: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """The operation that runs it, made outside; its outputs but for the counter and trace."""
        variables = tuple(self.names)
        outside = {n: self.outer.get(self.sources[n]) for n in self.loop.captures}
        values = self.builder, self.forward, results[0], self._trace, outside, self._argument
        graph = free_shapes(LoopResiduals(*values).extract(), variables)
        captures = tuple(self.names[len(variables) :])
        loop = Loop(graph, variables, captures, cond.ref, tuple(x.ref for x in results))
        outputs = self.outer.op("While", *self.inputs, loop=loop)
        return outputs[1 : len(variables)]


__all__ = ["loop_gradients"]
