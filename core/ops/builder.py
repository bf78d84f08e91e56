"""Building graphs in Python: tensor handles with operators, name scopes, control dependencies.

Gradient rules, user gradient functions, importers and tests all build through this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

import numpy as np

from core.errors import GradstepError
from core.graph.changes import alike
from core.graph.dtypes import DType, TensorType
from core.graph.model import NO_ATTRS, Constant, Graph, Operation, Phase, TensorRef
from core.ops.given import as_array, as_shape, attribute
from core.ops.infer import Inference, Inferrer, declare, declared
from core.ops.names import Names, names_of
from core.ops.table import OpDef, lookup
from core.ops.tensor import OpView, Tensor, TensorLike, call, call_many, default_builder

_TENSORS = frozenset({Tensor})


class GraphBuilder:
    """A graph under construction. Not thread-safe; `build()` freezes what is there so far.

    before: a graph whose operations are taken where others like them are made, so that who knows
    those knows these.
    origin, phase: given to every operation made here (see Operation).
    """

    def __init__(self, graph: Graph | None = None, before: Graph | None = None) -> None:
        self._before = {} if before is None else before.operations
        self._operations: dict[str, Operation] = {}
        self._names = Names()
        self._inferrer = Inferrer()
        self._in_order = True  # every operation comes after all that it waits for
        self._scope = ""
        self._controls: tuple[str, ...] = ()
        self.origin = ""
        self.phase = Phase.FORWARD
        if graph is not None:
            self._start_from(graph)

    def build(self) -> Graph:
        """What is there so far; it is typed already, and mostly in order."""
        if not self._in_order:
            return Graph(dict(self._operations))
        graph = Graph.ordered(self._operations)
        declare(graph, self._inferrer.found())
        return graph

    # -- looking ---------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """How many operations there are."""
        return len(self._operations)

    @property
    def known(self) -> Inference:
        """What is known of them at this moment."""
        return Inference(self._inferrer.types, self._inferrer.constants)

    def latest(self, count: int) -> list[Operation]:
        """The last operations made."""
        return list(islice(reversed(self._operations.values()), count))

    def operation(self, name: str) -> Operation:
        return self._operations[name]

    def has(self, name: str) -> bool:
        """Whether there is an operation of this name."""
        return name in self._operations

    def type_of(self, ref: TensorRef) -> TensorType:
        return self._inferrer.types.of[ref.op][ref.index]  # type: ignore[return-value]

    def constant_value(self, tensor: Tensor) -> np.ndarray | None:
        """The tensor's value when it is known before running, else None."""
        return self._inferrer.constant(tensor.ref)

    def output_count(self, name: str) -> int:
        return len(self._inferrer.types.of[name])

    def get(self, ref: TensorRef | str) -> Tensor:
        """A handle on a tensor that is already there. Raises GradstepError when it is not."""
        ref = TensorRef.parse(ref) if isinstance(ref, str) else ref
        if ref not in self._inferrer.types:
            raise GradstepError(f"there is no tensor '{ref}'", kind="KeyError", node=ref.op)
        return Tensor(self, ref)

    # -- making ----------------------------------------------------------------------------

    def add(self, operation: Operation) -> tuple[Tensor, ...]:
        """Add a finished operation as it is; its name must be free. Raises GradstepError."""
        name = operation.name
        self._names.check(name)
        outputs = self._inferrer.infer(operation)
        self._put(operation)
        return tuple([Tensor(self, TensorRef(name, i)) for i in range(len(outputs))])

    def add_typed(
        self, operation: Operation, outputs: tuple[TensorType, ...], constant: np.ndarray | None
    ) -> None:
        """The same for one of which is known what would be inferred."""
        self._put(operation)
        self._inferrer.types.of[operation.name] = outputs
        if constant is not None:
            self._inferrer.constants[operation.name] = constant

    def repeat(self, graph: Graph, names: Sequence[str]) -> None:
        """Add operations of `graph` again, which it has typed and which fit here as they did
        there."""
        known = declared(graph)
        self._names.take_later(names)
        self._operations.update(zip(names, map(graph.operations.__getitem__, names), strict=True))
        self._inferrer.types.of.update(
            zip(names, map(known.types.of.__getitem__, names), strict=True)
        )
        constants = {name: known.constants[name] for name in names if name in known.constants}
        self._inferrer.constants.update(constants)

    def op(
        self,
        type: str,
        /,
        *inputs: TensorLike,
        name: str | None = None,
        control_inputs: Sequence[str] = (),
        **attrs: Any,
    ) -> tuple[Tensor, ...]:
        """Add an operation and return its outputs. Inputs that are not tensors become constants
        of the first tensor's dtype where the op wants one dtype. Raises GradstepError."""
        definition = lookup(type, name)
        tensors = self._as_inputs(definition, inputs)
        # The inputs' constants were made first, so that they come before their consumer.
        operation = Operation(
            name=self.unique(name or type),
            type=type,
            inputs=tuple([t.ref for t in tensors]),
            control_inputs=_merge(self._controls, control_inputs, tensors),
            attrs={k: attribute(v) for k, v in attrs.items()} if attrs else NO_ATTRS,
            origin=self.origin,
            phase=self.phase,
        )
        return self.add(operation)

    def one(
        self, type: str, /, *inputs: TensorLike, name: str | None = None, **attrs: Any
    ) -> Tensor:
        """`op` for an op type with one output."""
        return self.op(type, *inputs, name=name, **attrs)[0]

    def tensor(self, value: TensorLike, dtype: DType | str | None = None) -> Tensor:
        """`value` itself if it is a tensor, else a constant (by default float32 or int32)."""
        if isinstance(value, Tensor):
            return value
        return self.constant(value, dtype=dtype)

    def constant(
        self, value: Any, dtype: DType | str | None = None, name: str | None = None
    ) -> Tensor:
        array = as_array(value, dtype)
        kind = DType.of(array.dtype)
        return self.one("Const", name=name or "Const", value=Constant(array), dtype=kind)

    def placeholder(self, name: str, dtype: DType | str = "float32", shape: Any = None) -> Tensor:
        return self.one("Placeholder", name=name, dtype=DType(dtype), shape=as_shape(shape))

    def variable(self, name: str, dtype: DType | str = "float32", shape: Any = ()) -> Tensor:
        """A ref variable (VariableV2); its initial value is the document's affair."""
        return self.one("VariableV2", name=name, dtype=DType(dtype), shape=as_shape(shape))

    # -- names, scopes, control dependencies -------------------------------------------------

    def unique(self, name: str) -> str:
        """`name` in the current scope, numbered if taken; TensorFlow's rule, ignoring case. A
        name that ends in "/" is a scope's, which one operation may have, and stays as it is."""
        if name.endswith("/"):
            return name[:-1]
        return self._names.unique(f"{self._scope}/{name}" if self._scope else name)

    @contextmanager
    def scope(self, name: str, exact: bool = False) -> Iterator[str]:
        """Make operations under a fresh scope `name` (numbered if taken, unless `exact`)."""
        outer = self._scope
        full = f"{outer}/{name}" if outer else name
        if not exact:
            full = self.unique(name)
            self._names.open(full)
        self._scope = full
        try:
            yield full
        finally:
            self._scope = outer

    @contextmanager
    def control_dependencies(self, names: Sequence[str]) -> Iterator[None]:
        outer = self._controls
        self._controls = (*outer, *names)
        try:
            yield
        finally:
            self._controls = outer

    @contextmanager
    def belonging_to(self, origin: str, phase: Phase) -> Iterator[None]:
        """Operations made inside belong to forward operation `origin` and to `phase`."""
        outer = self.origin, self.phase
        self.origin, self.phase = origin, phase
        try:
            yield
        finally:
            self.origin, self.phase = outer

    @contextmanager
    def as_default(self) -> Iterator[GraphBuilder]:
        """Inside, `call` without any tensor makes its operation here: `tf.constant`, `tf.zeros`."""
        token = default_builder.set(self)
        try:
            yield self
        finally:
            default_builder.reset(token)

    def _put(self, operation: Operation) -> None:
        name, waits = operation.name, operation.control_inputs
        if name in self._before and alike(operation, self._before[name]):
            operation = self._before[name]
        self._names.take(name)
        if waits and not self._operations.keys() >= {*waits}:
            self._in_order = False
        self._operations[name] = operation

    def _start_from(self, graph: Graph) -> None:
        order, known = graph.order, declared(graph)
        if known.problems:
            for name in order:
                self.add(graph[name])  # the first that cannot be typed is refused
            return
        self._names = names_of(graph)
        self._operations = {name: graph.operations[name] for name in order}
        self._inferrer = Inferrer(known)

    def _as_inputs(self, definition: OpDef, inputs: Sequence[TensorLike]) -> list[Tensor]:
        """Constants beside tensors take the element type of the first that may set it: of those
        inputs that share the type T, or of all where the op does not say."""
        if _TENSORS.issuperset(map(type, inputs)):
            return list(inputs)
        if not definition.broadcasts:
            return [self.tensor(x) for x in inputs]
        names = definition.arity(len(inputs))
        after = names.index(definition.type_attrs.get("T", names[0]))
        first = next((x for x in inputs[after:] if isinstance(x, Tensor)), None)
        wanted = None if first is None else first.dtype
        return [self.tensor(x, wanted if i >= after else None) for i, x in enumerate(inputs)]


def _merge(outer: Sequence[str], own: Sequence[str], inputs: Sequence[Tensor]) -> tuple[str, ...]:
    """Control inputs without duplicates and without those that are data inputs anyway."""
    if not outer and not own:
        return ()
    data = {t.ref.op for t in inputs}
    return tuple(dict.fromkeys(n for n in (*outer, *own) if n not in data))


def outputs_of(graph: Graph, types: Mapping[TensorRef, TensorType], name: str) -> list[TensorRef]:
    """The typed outputs of operation `name`, in order."""
    refs: list[TensorRef] = []
    while (ref := TensorRef(name, len(refs))) in types:
        refs.append(ref)
    return refs


__all__ = ["GraphBuilder", "OpView", "Tensor", "call", "call_many", "outputs_of"]
