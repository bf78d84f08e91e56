"""Reverse mode as a pure function: a graph in, the same graph with gradient operations out.

The order of work and the results are TensorFlow 1's `tf.gradients`: one `gradients` scope a
call, a `<op>_grad` scope for each forward operation, AddN where paths meet, None where nothing
connects. Every operation made remembers the forward operation it belongs to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from core.autodiff.request import GradientRequest, gradient_name, native_name
from core.autodiff.results import as_list, checked
from core.autodiff.unbroadcast import sum_to_shape_of
from core.errors import GradstepError
from core.graph.model import Edge, Graph, Operation, Phase, TensorRef
from core.ops.builder import GraphBuilder, OpView, Tensor
from core.ops.table import find

GradientFunction = Callable[
    ..., Any
]  # f(op, *grads) -> a gradient per input; TensorFlow's signature


@dataclass(frozen=True)
class Differentiation:
    """The result.

    graph:     the forward graph and the gradient operations after it.
    gradients: for each tensor between `wrt` and `of` that a gradient reached, the tensor that
               holds it. A tensor that is absent has the gradient None.
    edges:     for each wire that a gradient flows back through, the contribution it carries.
    blocked:   for each wire where a gradient ends although its operation had one: why.
    custom:    operations differentiated by something other than their own rule -> its name.
    """

    graph: Graph
    gradients: Mapping[TensorRef, TensorRef]
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
        for ref in (*self.request.of, *self.request.wrt):
            self.graph[ref.op]  # a name that is not there is said before any work
        self.builder = GraphBuilder(self.graph)
        self.arriving: dict[TensorRef, list[Tensor]] = {}
        self.gradients: dict[TensorRef, TensorRef] = {}
        self.passed: set[TensorRef] = set()
        self.path = self._path()
        self.live = self._below(differentiable_only=True)
        with self.builder.scope("gradients"):
            self._seed()
            for name in reversed(self.graph.order):
                if name in self.path:
                    self._through(self.graph[name])
            self._unconnected()
        return Differentiation(
            self.builder.build(), self.gradients, self.edges, self.blocked, self.custom
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
        for number, ref in enumerate(self.request.of):
            y = self.builder.get(ref)
            if not y.dtype.is_floating:
                raise GradstepError(
                    f"'{ref.short}' has element type {y.dtype.value}; only real floating-point "
                    "tensors can be differentiated",
                    kind="TypeError",
                    node=ref.op,
                )
            with self.builder.belonging_to(ref.op, Phase.BACKWARD):
                seed = self.builder.one("OnesLike", y, name=f"grad_ys_{number}")
            self.arriving.setdefault(ref, []).append(seed)

    def _through(self, op: Operation) -> None:
        with self.builder.belonging_to(op.name, Phase.BACKWARD):
            grads = self._arrived(op)
            if all(g is None for g in grads) or not _follows(op, self.path):
                return  # its rule is not wanted: nothing asked for lies before it
            with self.builder.scope(f"{op.name}_grad"):
                results = self._apply(op, self._complete(op, grads))
                self._pass_on(op, results)

    def _arrived(self, op: Operation) -> list[Tensor | None]:
        """The summed gradient of each output, remembered as that output's gradient."""
        grads: list[Tensor | None] = []
        for index in range(self.builder.output_count(op.name)):
            ref = op.output(index)
            parts = self.arriving.pop(ref, [])
            if not parts:
                grads.append(None)
                continue
            total = parts[0] if len(parts) == 1 else self.builder.one("AddN", *parts)
            self.gradients[ref] = total.ref
            self.passed.add(total.ref)
            if ref in self.request.stops:
                self._block_all(op, f"stop_gradient at {ref.short}")
                total_or_none = None
            else:
                total_or_none = total
            grads.append(total_or_none)
        return grads

    def _complete(self, op: Operation, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
        """Zeros in place of None where another output of the same operation has a gradient. Who
        asks for that output's gradient gets them, as in TensorFlow, not None."""
        full = list(grads)
        for index, grad in enumerate(grads):
            output = self.builder.get(op.output(index))
            if grad is None and (output.dtype.is_floating or output.dtype.is_complex):
                zeros = full[index] = self.builder.one("ZerosLike", output)
                if output.ref in self.request.wrt and _follows(op, self.live):
                    self.gradients[output.ref] = zeros.ref
        return full

    def _apply(self, op: Operation, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
        name = gradient_name(op, self.request.overrides)
        view = OpView(self.builder, op)
        results = as_list(self._call(op, name, self._rule(op, name), view, grads))
        native = name == native_name(op)
        if native and name != op.type:
            results += [None] * (len(op.inputs) - len(results))
        if not native:
            self.custom[op.name] = name
        definition = None if name in self.functions else find(name)
        summed = definition is not None and definition.broadcasts
        fitting = checked(op, name, results, view, any_shape=summed)
        return [
            sum_to_shape_of(g, x) if summed and g is not None else g
            for g, x in zip(fitting, view.inputs, strict=True)
        ]

    def _rule(self, op: Operation, name: str) -> GradientFunction:
        if name in self.functions:
            return self.functions[name]
        definition = find(name)
        if definition is not None and definition.gradient is not None:
            return definition.gradient
        if name != op.type:
            raise GradstepError(
                f"No gradient defined for operation '{op.name}' (op type: {op.type}): "
                f"its override asks for '{name}', which is not registered",
                kind="LookupError",
                node=op.name,
                hint=f"add a gradient function named '{name}', or switch the override off",
            )
        raise GradstepError(
            f"No gradient defined for operation '{op.name}' (op type: {op.type})",
            kind="LookupError",
            node=op.name,
            hint="override its gradient, or stop the gradient before it",
        )

    def _call(
        self,
        op: Operation,
        name: str,
        rule: GradientFunction,
        view: OpView,
        grads: Sequence[Tensor | None],
    ) -> Any:
        try:
            with self.builder.as_default():
                return rule(view, *grads)
        except GradstepError as error:
            raise error.at(op.name) from None
        except Exception as error:
            if name not in self.functions:
                raise
            raise GradstepError(
                f"gradient function '{name}' raised {type(error).__name__}: {error}",
                kind="GradientFunctionError",
                node=op.name,
                hint="its signature is f(op, grad): one gradient per output in, one per input out",
            ) from error

    def _pass_on(self, op: Operation, results: Sequence[Tensor | None]) -> None:
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
                own = self._own(op, grad)
                self.edges[edge] = own.ref
                self.arriving.setdefault(source, []).append(own)

    def _own(self, op: Operation, grad: Tensor) -> Tensor:
        """`grad` as a tensor that `op` made: what a rule passes on unchanged gets an Identity, as
        in TensorFlow, so that each forward operation has a backward step and each wire a value."""
        if self.builder.operation(grad.ref.op).origin == op.name and grad.ref not in self.passed:
            self.passed.add(grad.ref)
            return grad
        return self.builder.one("Identity", grad)

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
