"""Reverse mode as a pure function: a graph in, the same graph with gradient operations out.

The order of work and the results are TensorFlow 1's `tf.gradients`: one `gradients` scope a
call, a `<op>_grad` scope for each forward operation, AddN where paths meet, None where nothing
connects. Every operation made remembers the forward operation it belongs to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from core.autodiff.arriving import Contribution, total
from core.autodiff.order import arrival_order
from core.autodiff.request import GradientRequest, gradient_name, native_name
from core.autodiff.results import Result, as_list, checked
from core.autodiff.rules import GradientFunction, call_rule, rule_of
from core.autodiff.seeds import seed
from core.autodiff.unbroadcast import sum_to_shape_of
from core.errors import GradstepError
from core.graph.model import Edge, Graph, Operation, Phase, TensorRef
from core.ops.builder import GraphBuilder, OpView, Tensor
from core.ops.indexed_slices import IndexedSlices
from core.ops.table import find


@dataclass(frozen=True, slots=True)
class Slices:
    """A gradient's rows, as two tensors: see IndexedSlices."""

    values: TensorRef
    indices: TensorRef


@dataclass(frozen=True)
class Differentiation:
    """The result.

    graph:     the forward graph and the gradient operations after it.
    gradients: for each tensor between `wrt` and `of` that a gradient reached, the tensor that
               holds it. A tensor that is absent has the gradient None.
    slices:    for each of them whose gradient TensorFlow gives as IndexedSlices: its rows. Its
               entry in `gradients` is the same as a whole tensor.
    edges:     for each wire that a gradient flows back through, the contribution it carries.
    blocked:   for each wire where a gradient ends although its operation had one: why.
    custom:    operations differentiated by something other than their own rule -> its name.
    """

    graph: Graph
    gradients: Mapping[TensorRef, TensorRef]
    slices: Mapping[TensorRef, Slices]
    edges: Mapping[Edge, TensorRef]
    blocked: Mapping[Edge, str]
    custom: Mapping[str, str]


def differentiate(
    graph: Graph,
    request: GradientRequest,
    functions: Mapping[str, GradientFunction] | None = None,
) -> Differentiation:
    """Append the gradient of `request.of` with respect to every tensor that leads to it from
    `request.wrt`. `functions` are the custom gradients by name. Raises GradstepError at the
    operation whose rule is missing (LookupError) or gives a wrong result (ValueError)."""
    return _Reverse(graph, request, functions or {}).run()


@dataclass
class _Reverse:
    """One call of `differentiate`, while it lasts."""

    graph: Graph
    request: GradientRequest
    functions: Mapping[str, GradientFunction]
    edges: dict[Edge, TensorRef] = field(default_factory=dict)
    blocked: dict[Edge, str] = field(default_factory=dict)
    custom: dict[str, str] = field(default_factory=dict)

    def run(self) -> Differentiation:
        for ref in (*self.request.of, *self.request.wrt, *filter(None, self.request.grad_ys)):
            self.graph[ref.op]  # a name that is not there is said before any work
        self.builder = GraphBuilder(self.graph)
        self.arriving: dict[TensorRef, list[Contribution]] = {}
        self.gradients: dict[TensorRef, TensorRef] = {}
        self.slices: dict[TensorRef, Slices] = {}
        self.passed: set[TensorRef] = set()
        self.path = self._path()
        self.live = self._below(differentiable_only=True)
        self.rank = arrival_order(self.graph, self.request.of, self.path & self.live)
        with self.builder.scope("gradients"):
            self._seed()
            for name in reversed(self.graph.order):
                if name in self.path:
                    self._through(self.graph[name])
            self._unconnected()
        return Differentiation(
            self.builder.build(),
            self.gradients,
            self.slices,
            self.edges,
            self.blocked,
            self.custom,
        )

    def _path(self) -> set[str]:
        """Operations that lie between some `wrt` and some `of`, ends included."""
        return self._below() & _data_ancestors(self.graph, [ref.op for ref in self.request.of])

    def _below(self, differentiable_only: bool = False) -> set[str]:
        """Operations that some `wrt` leads to, ends included; differentiable_only: through
        tensors that can carry a gradient."""
        below: set[str] = set()
        stack = [ref.op for ref in self.request.wrt]
        while stack:
            name = stack.pop()
            if name in below:
                continue
            below.add(name)
            for edge in self.graph.consumers[name]:
                source = self.graph.source(edge)
                assert source is not None
                if not differentiable_only or self.builder.type_of(source).dtype.is_differentiable:
                    stack.append(edge.op)
        return below

    def _seed(self) -> None:
        given = self.request.grad_ys or (None,) * len(self.request.of)
        if len(given) != len(self.request.of):
            raise GradstepError(
                f"Length mismatch. Passed {len(given)} grad_ys for {len(self.request.of)} ys",
                kind="ValueError",
                hint="give one for each tensor that is differentiated",
            )
        for number, (ref, grad_y) in enumerate(zip(self.request.of, given, strict=True)):
            y = self.builder.get(ref)
            start = None if grad_y is None else self.builder.get(grad_y)
            with self.builder.belonging_to(ref.op, Phase.BACKWARD):
                first = seed(y, start, f"grad_ys_{number}")
            if first is not None:
                self.arriving.setdefault(ref, []).append(Contribution(first))

    def _through(self, op: Operation) -> None:
        with self.builder.belonging_to(op.name, Phase.BACKWARD):
            grads = self._arrived(op)
            if all(g is None for g in grads) or not _follows(op, self.path):
                return  # its rule is not wanted: nothing asked for lies before it
            with self.builder.scope(f"{op.name}_grad"):
                results = self._apply(op, self._complete(op, grads))
                self._pass_on(op, self._gated([self._own(op, r, grads) for r in results]))

    def _arrived(self, op: Operation) -> list[Contribution | None]:
        """The summed gradient of each output, remembered as that output's gradient."""
        grads: list[Contribution | None] = []
        for index in range(self.builder.output_count(op.name)):
            ref = op.output(index)
            parts = self.arriving.pop(ref, [])
            if not parts:
                grads.append(None)
                continue
            summed = total(parts)
            self.gradients[ref] = summed.dense.ref
            self.passed.add(summed.dense.ref)
            if summed.slices is not None:
                self.slices[ref] = Slices(summed.slices.values.ref, summed.slices.indices.ref)
            stopped = ref in self.request.stops
            if stopped:
                self._block_all(op, f"stop_gradient at {ref.short}")
            grads.append(None if stopped else summed)
        return grads

    def _complete(
        self, op: Operation, grads: Sequence[Contribution | None]
    ) -> list[Tensor | IndexedSlices | None]:
        """What the rule is called with: rows where it takes them; zeros in place of None where
        another output of the same operation has a gradient. Who asks for that output's gradient
        gets them, as in TensorFlow, not None."""
        rows = self._takes_slices(op)
        full = [None if g is None else (rows and g.slices) or g.dense for g in grads]
        for index, grad in enumerate(grads):
            output = self.builder.get(op.output(index))
            if grad is None and (output.dtype.is_floating or output.dtype.is_complex):
                zeros = full[index] = self.builder.one("ZerosLike", output)
                if output.ref in self.request.wrt and _follows(op, self.live):
                    self.gradients[output.ref] = zeros.ref
        return full

    def _takes_slices(self, op: Operation) -> bool:
        name = gradient_name(op, self.request.overrides)
        definition = None if name in self.functions else find(name)
        return definition is not None and definition.takes_slices

    def _apply(self, op: Operation, grads: Sequence[Tensor | IndexedSlices | None]) -> list[Result]:
        name = gradient_name(op, self.request.overrides)
        view = OpView(self.builder, op)
        rule = rule_of(op, name, self.functions)
        with self.builder.as_default():
            results = as_list(call_rule(view, name, rule, grads, custom=name in self.functions))
        native = name == native_name(op)
        if native and name != op.type:
            results += [None] * (len(op.inputs) - len(results))
        if not native:
            self.custom[op.name] = name
        definition = None if name in self.functions else find(name)
        summed = definition is not None and definition.broadcasts
        fitting = checked(op, name, results, view, any_shape=summed)
        return [
            sum_to_shape_of(g, x) if summed and isinstance(g, Tensor) else g
            for g, x in zip(fitting, view.inputs, strict=True)
        ]

    def _pass_on(self, op: Operation, results: Sequence[Contribution | None]) -> None:
        for index, grad in enumerate(results):
            edge = Edge(op.name, index)
            source = op.inputs[index]
            if source is None or source.op not in self.path:
                continue  # nobody asked: it leads to no tensor of `wrt`
            if grad is None:
                self.blocked[edge] = self._why_none(op, source)
            elif edge in self.request.stopped_edges:
                self.blocked[edge] = "stop_gradient on this wire"
            else:
                self.edges[edge] = grad.dense.ref
                ranked = replace(grad, rank=self.rank.get(op.name, len(self.rank)))
                self.arriving.setdefault(source, []).append(ranked)

    def _own(
        self, op: Operation, grad: Result, arrived: Sequence[Contribution | None]
    ) -> Contribution | None:
        """`grad` as a tensor that `op` made: what a rule passes on unchanged gets an Identity, as
        in TensorFlow, so that each forward operation has a backward step and each wire a value."""
        if grad is None:
            return None
        known = (a for a in arrived if a is not None and a.slices is grad)
        whole = next(known, None) or Contribution.of(grad)
        dense = whole.dense
        made_here = self.builder.operation(dense.ref.op).origin == op.name
        if made_here and dense.ref not in self.passed:
            self.passed.add(dense.ref)
            return whole
        return Contribution(self.builder.one("Identity", dense), whole.slices)

    def _gated(self, results: Sequence[Contribution | None]) -> list[Contribution | None]:
        """With `gate`, none of an operation's gradients goes on before all of them are there."""
        made = [r.dense.ref.op for r in results if r is not None]
        if not self.request.gate or len(made) < 2:
            return list(results)
        with self.builder.scope("tuple"):
            together = self.builder.unique("group_deps")
            self.builder.op("NoOp", name="group_deps", control_inputs=tuple(dict.fromkeys(made)))
            return [r and self._after(together, r) for r in results]

    def _after(self, name: str, grad: Contribution) -> Contribution:
        (held,) = self.builder.op(
            "Identity", grad.dense, name="control_dependency", control_inputs=(name,)
        )
        return Contribution(held, grad.slices)

    def _why_none(self, op: Operation, source: TensorRef) -> str:
        name = self.custom.get(op.name)
        if name is not None:
            return f"gradient '{name}' returns None for this input"
        if not self.builder.type_of(source).dtype.is_differentiable:
            return f"{self.builder.type_of(source).dtype.value} values have no gradient"
        definition = find(op.type)
        if definition is not None and not definition.differentiable:
            return f"{op.type} has no gradient"
        return f"{op.type} has no gradient for this input"

    def _block_all(self, op: Operation, why: str) -> None:
        for index in range(len(op.inputs)):
            self.blocked[Edge(op.name, index)] = why

    def _unconnected(self) -> None:
        if not self.request.unconnected_zero:
            return
        for ref in self.request.wrt:
            if ref not in self.gradients:
                with self.builder.belonging_to(ref.op, Phase.BACKWARD):
                    zero = self.builder.one("ZerosLike", self.builder.get(ref))
                self.gradients[ref] = zero.ref


def _follows(op: Operation, names: Set[str]) -> bool:
    """Whether `op` takes a tensor of one of the named operations."""
    return any(ref is not None and ref.op in names for ref in op.inputs)


def _data_ancestors(graph: Graph, names: Sequence[str]) -> set[str]:
    seen: set[str] = set()
    stack = list(names)
    while stack:
        name = stack.pop()
        if name not in seen:
            seen.add(name)
            stack.extend(ref.op for ref in graph[name].inputs if ref is not None)
    return seen
