"""`tf.FIFOQueue` and the other queues: objects whose methods make operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradstep.core.graph.dtypes import SCALAR, DType, Shape
from gradstep.core.ops.api.tf_creation import constant, ints
from gradstep.core.ops.api.tf_random import graph_seeds
from gradstep.core.ops.build.python_values import as_shape
from gradstep.core.ops.build.tensor import OpView, Tensor, TensorLike, builder_of

Types = DType | str | Sequence[DType | str]


class QueueBase:
    """What all queues have. queue_ref: the handle, an operation of the type `op_type`."""

    op_type = ""

    def __init__(
        self,
        capacity: int,
        dtypes: Types,
        shapes: Any = None,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        name: str = "",
        **attrs: Any,
    ) -> None:
        self.dtypes = _types(dtypes)
        self.shapes = _shapes(shapes, len(self.dtypes))
        self.names = None if names is None else list(names)
        if self.names is not None and len(self.names) != len(self.dtypes):
            raise ValueError("List of Queue names must have the same length as the list of dtypes")
        self._builder = builder_of(())
        self.queue_ref = self._builder.one(
            self.op_type,
            name=name,
            component_types=self._declared(self.dtypes),
            shapes=self._declared(self.shapes),
            capacity=capacity,
            shared_name=shared_name or "",
            **attrs,
        )

    @property
    def name(self) -> str:
        return self.queue_ref.op.name.rpartition("/")[2]

    def enqueue(self, vals: Any, name: str | None = None) -> OpView:
        """Put one element in."""
        return self._put("QueueEnqueueV2", vals, name or f"{self.name}_enqueue", rows=False)

    def enqueue_many(self, vals: Any, name: str | None = None) -> OpView:
        """Put each row in as one element."""
        return self._put("QueueEnqueueManyV2", vals, name or f"{self.name}_EnqueueMany", rows=True)

    def dequeue(self, name: str | None = None) -> Any:
        """One element: a tensor, a list of them, or by name."""
        return self._taken("QueueDequeueV2", (), name or f"{self.name}_Dequeue")

    def dequeue_many(self, n: TensorLike, name: str | None = None) -> Any:
        """`n` elements as rows."""
        return self._taken("QueueDequeueManyV2", (n,), name or f"{self.name}_DequeueMany")

    def dequeue_up_to(self, n: TensorLike, name: str | None = None) -> Any:
        """`n` elements as rows, or what there is when the queue is closed."""
        return self._taken("QueueDequeueUpToV2", (n,), name or f"{self.name}_DequeueUpTo")

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> OpView:
        attrs = {"cancel_pending_enqueues": cancel_pending_enqueues}
        return self._op("QueueCloseV2", (), name or f"{self.name}_Close", **attrs)

    def is_closed(self, name: str | None = None) -> Tensor:
        return self._op("QueueIsClosedV2", (), name or f"{self.name}_Is_Closed").outputs[0]

    def size(self, name: str | None = None) -> Tensor:
        return self._op("QueueSizeV2", (), name or f"{self.name}_Size").outputs[0]

    def _declared(self, components: Sequence[Any]) -> tuple[Any, ...]:
        """Those components that the op's attributes speak of."""
        return tuple(components)

    def _put(self, type: str, vals: Any, name: str, rows: bool) -> OpView:
        with self._builder.scope(name) as scope:
            given = self._components(vals)
            for tensor, shape in zip(given, self.shapes, strict=False):
                _check(tensor.shape, _rows(shape) if rows else shape)
        return self._op(type, given, f"{scope}/")

    def _components(self, vals: Any) -> list[Tensor]:
        """One tensor for each component; a list is one of components, as in TensorFlow, and what is
        too much in it is left out. Raises ValueError or TypeError as TensorFlow does."""
        if self.names is not None:
            vals = _by_name(vals, self.names)
        elif isinstance(vals, Mapping):
            raise ValueError("You must enqueue a dictionary in a Queue with names")
        listed = vals if isinstance(vals, list | tuple) else [vals]
        with self._builder.as_default():
            return [_component(v, dtype) for v, dtype in zip(listed, self.dtypes, strict=False)]

    def _taken(self, type: str, inputs: Sequence[TensorLike], name: str) -> Any:
        with self._builder.scope(name) as scope:
            counts = [x if isinstance(x, Tensor) else ints(x) for x in inputs]
            tensors = [self._builder.tensor(x) for x in counts]
        found = self._op(type, tensors, f"{scope}/", component_types=tuple(self.dtypes)).outputs
        if self.names is not None:
            return dict(zip(self.names, found, strict=True))
        return found[0] if len(found) == 1 else found

    def _op(self, type: str, inputs: Sequence[Tensor], name: str, **attrs: Any) -> OpView:
        self._builder.op(type, self.queue_ref, *inputs, name=name, **attrs)
        (made,) = self._builder.latest(1)
        return OpView(self._builder, made)


class FIFOQueue(QueueBase):
    """First in, first out."""

    op_type = "FIFOQueueV2"

    def __init__(
        self,
        capacity: int,
        dtypes: Types,
        shapes: Any = None,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        name: str = "fifo_queue",
    ) -> None:
        super().__init__(capacity, dtypes, shapes, names, shared_name, name)


class PaddingFIFOQueue(QueueBase):
    """Elements may differ in size; many of them are filled up with zeros."""

    op_type = "PaddingFIFOQueueV2"

    def __init__(
        self,
        capacity: int,
        dtypes: Types,
        shapes: Any,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        name: str = "padding_fifo_queue",
    ) -> None:
        super().__init__(capacity, dtypes, shapes, names, shared_name, name)


class RandomShuffleQueue(QueueBase):
    """Hands out its elements in random order; `min_after_dequeue` stay in it until it is closed."""

    op_type = "RandomShuffleQueueV2"

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: Types,
        shapes: Any = None,
        names: Sequence[str] | None = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str = "random_shuffle_queue",
    ) -> None:
        attrs = {"min_after_dequeue": min_after_dequeue, **graph_seeds(seed)}
        super().__init__(capacity, dtypes, shapes, names, shared_name, name, **attrs)


class PriorityQueue(QueueBase):
    """Hands out the lowest priority first, a whole number before the components."""

    op_type = "PriorityQueueV2"

    def __init__(
        self,
        capacity: int,
        types: Types,
        shapes: Any,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        name: str = "priority_queue",
    ) -> None:
        own = _types(types)
        whole = [SCALAR, *_shapes(shapes, len(own))]
        super().__init__(capacity, [DType.INT64, *own], whole, names, shared_name, name)

    def _declared(self, components: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(components)[1:]


def _types(dtypes: Types) -> list[DType]:
    return [DType(dtypes)] if isinstance(dtypes, str) else [DType(kind) for kind in dtypes]


def _shapes(shapes: Any, count: int) -> list[Shape]:
    """One shape for each of `count` components; none where they are not said. A queue of one
    component may be given its shape alone."""
    if shapes is None:
        return []
    if count == 1 and (not shapes or not isinstance(shapes[0], Sequence | Shape)):
        shapes = [shapes]
    if len(shapes) != count:
        raise ValueError(
            "Queue shapes must have the same length as dtypes, received "
            f"len(shapes)={len(shapes)}, len(dtypes)={count}"
        )
    return [as_shape(shape) for shape in shapes]


def _by_name(vals: Any, names: Sequence[str]) -> list[Any]:
    if not isinstance(vals, Mapping):
        raise ValueError("You must enqueue a dictionary in a Queue with names")
    if sorted(names) != sorted(vals):
        raise ValueError(
            "Keys in dictionary to enqueue do not match names of Queue.  "
            f"Dictionary: {sorted(vals)},Queue: {sorted(names)}"
        )
    return [vals[name] for name in names]


def _component(value: TensorLike, dtype: DType) -> Tensor:
    if dtype.is_integer and isinstance(value, float):
        raise TypeError(f"Expected {dtype.value}, but got {value} of type 'float'.")
    return constant(value, dtype)


def _rows(shape: Shape) -> Shape:
    return shape if shape.dims is None else Shape((None, *shape.dims))


def _check(given: Shape, wanted: Shape) -> None:
    try:
        given.merge(wanted)
    except ValueError:
        texts = [_python_text(shape) for shape in (given, wanted)]
        raise ValueError(f"Shapes {texts[0]} and {texts[1]} are incompatible") from None


def _python_text(shape: Shape) -> str:
    """A shape as TensorFlow's Python prints it: (2,)."""
    sizes = ["?" if size is None else str(size) for size in shape.dims or ()]
    return f"({', '.join(sizes)}{','[: len(sizes) == 1]})"


FUNCTIONS = {
    "FIFOQueue": FIFOQueue,
    "PaddingFIFOQueue": PaddingFIFOQueue,
    "PriorityQueue": PriorityQueue,
    "RandomShuffleQueue": RandomShuffleQueue,
}
