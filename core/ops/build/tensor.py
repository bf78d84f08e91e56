"""Handles on a graph under construction: tensors with operators, operations as rules see them."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NoReturn

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.ops.build.subscripts import slice_tensor
from gradstep.core.ops.declare.table import lookup

if TYPE_CHECKING:
    from gradstep.core.ops.build.builder import GraphBuilder

TensorLike = Any  # a Tensor, or anything NumPy can make an array of

# Where ops without a tensor input go, while GraphBuilder.as_default() lasts.
default_builder: ContextVar[GraphBuilder | None] = ContextVar("default_builder", default=None)


class Tensor:
    """A handle on one output in a graph that is being built."""

    __slots__ = ("builder", "ref")
    __array_ufunc__ = None  # let `ndarray * tensor` come to our __rmul__
    __hash__ = object.__hash__

    def __init__(self, builder: GraphBuilder, ref: TensorRef) -> None:
        self.builder = builder
        self.ref = ref

    @property
    def type(self) -> TensorType:
        return self.builder.type_of(self.ref)

    @property
    def dtype(self) -> DType:
        return self.type.dtype

    @property
    def shape(self) -> Shape:
        return self.type.shape

    @property
    def name(self) -> str:
        return str(self.ref)

    @property
    def op(self) -> OpView:
        return OpView(self.builder, self.builder.operation(self.ref.op))

    def __repr__(self) -> str:
        return f"<Tensor {self.ref} {self.type}>"

    def __bool__(self) -> bool:
        raise TypeError(
            "a tensor has no truth value while the graph is built; "
            "use Select, or compare with `is None`"
        )

    def __getitem__(self, index: Any) -> Tensor:
        return slice_tensor(self, index)

    def __iter__(self) -> NoReturn:
        raise TypeError(
            "Tensor objects are not iterable while the graph is built; tf.unstack gives a list"
        )

    def __add__(self, other: TensorLike) -> Tensor:
        return self._binary("AddV2", other)

    def __radd__(self, other: TensorLike) -> Tensor:
        return self._binary("AddV2", other, swap=True)

    def __sub__(self, other: TensorLike) -> Tensor:
        return self._binary("Sub", other)

    def __rsub__(self, other: TensorLike) -> Tensor:
        return self._binary("Sub", other, swap=True)

    def __mul__(self, other: TensorLike) -> Tensor:
        return self._binary("Mul", other)

    def __rmul__(self, other: TensorLike) -> Tensor:
        return self._binary("Mul", other, swap=True)

    def __truediv__(self, other: TensorLike) -> Tensor:
        return self._binary("RealDiv", other)

    def __rtruediv__(self, other: TensorLike) -> Tensor:
        return self._binary("RealDiv", other, swap=True)

    def __pow__(self, other: TensorLike) -> Tensor:
        return self._binary("Pow", other)

    def __rpow__(self, other: TensorLike) -> Tensor:
        return self._binary("Pow", other, swap=True)

    def __matmul__(self, other: TensorLike) -> Tensor:
        return self._binary("MatMul", other)

    def __gt__(self, other: TensorLike) -> Tensor:
        return self._binary("Greater", other)

    def __lt__(self, other: TensorLike) -> Tensor:
        return self._binary("Less", other)

    def __ge__(self, other: TensorLike) -> Tensor:
        return self._binary("GreaterEqual", other)

    def __le__(self, other: TensorLike) -> Tensor:
        return self._binary("LessEqual", other)

    def __neg__(self) -> Tensor:
        return self.builder.one("Neg", self)

    def _binary(self, type: str, other: TensorLike, swap: bool = False) -> Tensor:
        right = self.builder.tensor(other, dtype=self.dtype)
        pair = (right, self) if swap else (self, right)
        return self.builder.one(type, *pair)


class OpView:
    """An operation as gradient functions see it: TensorFlow's `op.inputs`, `op.outputs`…"""

    __slots__ = ("builder", "operation")

    def __init__(self, builder: GraphBuilder, operation: Operation) -> None:
        self.builder = builder
        self.operation = operation

    @property
    def name(self) -> str:
        return self.operation.name

    @property
    def type(self) -> str:
        return self.operation.type

    @property
    def inputs(self) -> list[Tensor]:
        return [Tensor(self.builder, ref) for ref in self.operation.inputs if ref is not None]

    @property
    def outputs(self) -> list[Tensor]:
        count = self.builder.output_count(self.operation.name)
        return [Tensor(self.builder, self.operation.output(i)) for i in range(count)]

    def get_attr(self, name: str) -> Any:
        """The attribute's value or its declared default. Raises GradstepError without either."""
        definition = lookup(self.type, self.name)
        if name in definition.attrs:
            return definition.attr(self.operation, name)
        if name in self.operation.attrs:
            return self.operation.attrs[name]
        raise GradstepError(f"'{self.name}' has no attribute '{name}'", kind="ValueError")


def call(type: str, /, *inputs: TensorLike, name: str | None = None, **attrs: Any) -> Tensor:
    """Add an op of one output to the graph that its first tensor input belongs to.

    This is how gradient rules make operations: `call("Sum", g, axes, keep_dims=True)`.
    """
    return builder_of(inputs).one(type, *inputs, name=name, **attrs)


def call_many(
    type: str, /, *inputs: TensorLike, name: str | None = None, **attrs: Any
) -> tuple[Tensor, ...]:
    """`call` for op types with several outputs, or none."""
    return builder_of(inputs).op(type, *inputs, name=name, **attrs)


def builder_of(inputs: Sequence[TensorLike]) -> GraphBuilder:
    for x in inputs:
        if isinstance(x, Tensor):
            return x.builder
    if (builder := default_builder.get()) is not None:
        return builder
    raise TypeError("at least one input must be a tensor, to say which graph is meant")
