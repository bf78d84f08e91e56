"""Building graphs in Python: tensor handles with operators, name scopes, control dependencies.

Gradient rules, user gradient functions, importers and tests all build through this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, SupportsIndex

import numpy as np

from core.errors import GradstepError
from core.graph.dtypes import DType, Shape, TensorType
from core.graph.model import Constant, Graph, Operation, Phase, TensorRef
from core.graph.scopes import parents
from core.ops.infer import Inferrer
from core.ops.table import OpDef, lookup
from core.ops.tensor import OpView, Tensor, TensorLike, call, call_many, default_builder


class GraphBuilder:
    """A graph under construction. Not thread-safe; `build()` freezes what is there so far.

    origin, phase: given to every operation made here (see Operation).
    """

    def __init__(self, graph: Graph | None = None) -> None:
        self._operations: dict[str, Operation] = {}
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}
        self._outputs: dict[str, int] = {}
        self._inferrer = Inferrer()
        self._scope = ""
        self._controls: tuple[str, ...] = ()
        self.origin = ""
        self.phase = Phase.FORWARD
        if graph is not None:
            for name in graph.order:
                self.add(graph[name])

    def build(self) -> Graph:
        return Graph(dict(self._operations))

    # -- looking ---------------------------------------------------------------------------

    def operation(self, name: str) -> Operation:
        return self._operations[name]

    def has(self, name: str) -> bool:
        """Whether there is an operation of this name."""
        return name in self._operations

    def type_of(self, ref: TensorRef) -> TensorType:
        return self._inferrer.types[ref]

    def constant_value(self, tensor: Tensor) -> np.ndarray | None:
        """The tensor's value when it is known before running, else None."""
        return self._inferrer.constants.get(tensor.ref)

    def output_count(self, name: str) -> int:
        return self._outputs[name]

    def get(self, ref: TensorRef | str) -> Tensor:
        """A handle on a tensor that is already there. Raises GradstepError when it is not."""
        ref = TensorRef.parse(ref) if isinstance(ref, str) else ref
        if ref not in self._inferrer.types:
            raise GradstepError(f"there is no tensor '{ref}'", kind="KeyError", node=ref.op)
        return Tensor(self, ref)

    # -- making ----------------------------------------------------------------------------

    def add(self, operation: Operation) -> tuple[Tensor, ...]:
        """Add a finished operation as it is; its name must be free. Raises GradstepError."""
        key = operation.name.lower()
        if key in self._taken:
            raise GradstepError(f"the name '{operation.name}' is taken", kind="ValueError")
        outputs = self._inferrer.infer(operation)
        self._operations[operation.name] = operation
        self._taken.add(key)
        for scope in parents(key):  # a scope that is there is taken, too
            self._next.setdefault(scope, 0)
        self._outputs[operation.name] = len(outputs)
        return tuple(Tensor(self, operation.output(i)) for i in range(len(outputs)))

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
            inputs=tuple(t.ref for t in tensors),
            control_inputs=_merge(self._controls, control_inputs, tensors),
            attrs={k: _attr_value(v) for k, v in attrs.items()},
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
        array = _as_array(value, dtype)
        kind = DType.of(array.dtype)
        return self.one("Const", name=name or "Const", value=Constant(array), dtype=kind)

    def placeholder(self, name: str, dtype: DType | str = "float32", shape: Any = None) -> Tensor:
        return self.one("Placeholder", name=name, dtype=DType(dtype), shape=_shape(shape))

    def variable(self, name: str, dtype: DType | str = "float32", shape: Any = ()) -> Tensor:
        """A ref variable (VariableV2); its initial value is the document's affair."""
        return self.one("VariableV2", name=name, dtype=DType(dtype), shape=_shape(shape))

    # -- names, scopes, control dependencies -------------------------------------------------

    def unique(self, name: str) -> str:
        """`name` in the current scope, numbered if taken; TensorFlow's rule, ignoring case. A
        name that ends in "/" is a scope's, which one operation may have, and stays as it is."""
        if name.endswith("/"):
            return name[:-1]
        full = f"{self._scope}/{name}" if self._scope else name
        if full.lower() not in self._taken and full.lower() not in self._next:
            return full
        count = self._next.get(full.lower(), 0)
        while True:
            count += 1
            candidate = f"{full}_{count}"
            if candidate.lower() not in self._taken and candidate.lower() not in self._next:
                self._next[full.lower()] = count
                return candidate

    @contextmanager
    def scope(self, name: str, exact: bool = False) -> Iterator[str]:
        """Make operations under a fresh scope `name` (numbered if taken, unless `exact`)."""
        outer = self._scope
        full = f"{outer}/{name}" if outer else name
        if not exact:
            full = self.unique(name)
            self._next.setdefault(full.lower(), 0)
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

    def _as_inputs(self, definition: OpDef, inputs: Sequence[TensorLike]) -> list[Tensor]:
        """Constants beside tensors take the element type of the first that may set it: of those
        inputs that share the type T, or of all where the op does not say."""
        if not definition.broadcasts:
            return [self.tensor(x) for x in inputs]
        names = definition.arity(len(inputs))
        after = names.index(definition.type_attrs.get("T", names[0]))
        first = next((x for x in inputs[after:] if isinstance(x, Tensor)), None)
        wanted = None if first is None else first.dtype
        return [self.tensor(x, wanted if i >= after else None) for i, x in enumerate(inputs)]


def _merge(outer: Sequence[str], own: Sequence[str], inputs: Sequence[Tensor]) -> tuple[str, ...]:
    """Control inputs without duplicates and without those that are data inputs anyway."""
    data = {t.ref.op for t in inputs}
    return tuple(dict.fromkeys(n for n in (*outer, *own) if n not in data))


def _as_array(value: Any, dtype: DType | str | None) -> np.ndarray:
    if dtype is not None:
        return np.asarray(value, dtype=DType(dtype).numpy)
    array = np.asarray(value)
    if not isinstance(value, np.ndarray | np.generic):
        array = array.astype({"f": np.float32, "i": np.int32}.get(array.dtype.kind, array.dtype))
    return array


def _attr_value(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return Constant(value)
    if isinstance(value, list):
        return tuple(value)
    return value


def _shape(shape: Any) -> Shape:
    if shape is None or isinstance(shape, Shape):
        return shape or Shape(None)
    if isinstance(shape, SupportsIndex):
        return Shape((int(shape),))
    return Shape(tuple(None if d is None else int(d) for d in shape))


def outputs_of(graph: Graph, types: Mapping[TensorRef, TensorType], name: str) -> list[TensorRef]:
    """The typed outputs of operation `name`, in order."""
    refs: list[TensorRef] = []
    while (ref := TensorRef(name, len(refs))) in types:
        refs.append(ref)
    return refs


__all__ = ["GraphBuilder", "OpView", "Tensor", "call", "call_many", "outputs_of"]
