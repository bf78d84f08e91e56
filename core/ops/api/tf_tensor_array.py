"""tf.TensorArray: what a loop reads its inputs from, and writes its outputs to."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.ops.build.python_values import as_shape
from gradstep.core.ops.build.tensor import Tensor, TensorLike, builder_of, call, call_many
from gradstep.core.ops.catalogue.control.tensor_array_ops import SHAPE


class TensorArray:
    """TensorFlow's: what changes an array returns another one, with the flow that comes after.

    infer_shape: all elements are of one shape, that of the first.
    """

    def __init__(
        self,
        dtype: DType | str,
        size: TensorLike = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Tensor | None = None,
        flow: Tensor | None = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        name: str | None = None,
    ) -> None:
        self.dtype = DType(dtype)
        self.dynamic_size = bool(dynamic_size)
        self._same = infer_shape
        self._size = None if dynamic_size else size
        self._element = [as_shape(element_shape)]  # what one of them learns, all of them know
        if handle is not None and flow is not None:
            self.handle, self.flow = handle, flow
            return
        if size is None:
            raise GradstepError(
                "Size must be provided if handle is not provided",
                kind="ValueError",
                hint="tf.TensorArray(dtype, size), or size=0 with dynamic_size=True",
            )
        self.handle, self.flow = call_many(
            "TensorArrayV3",
            size,
            name=name or "TensorArray",
            dtype=self.dtype,
            element_shape=self.element_shape,
            dynamic_size=self.dynamic_size,
            clear_after_read=clear_after_read is not False,
            identical_element_shapes=infer_shape,
            tensor_array_name=tensor_array_name or "",
        )

    @property
    def element_shape(self) -> Shape:
        """What is known of the elements' shape."""
        return self._element[0]

    def with_flow(self, flow: Tensor) -> TensorArray:
        """The same array, once `flow` is there."""
        made = TensorArray(self.dtype, self._size, self.dynamic_size, None, None, self.handle, flow)
        made._same, made._element = self._same, self._element
        return made

    def identity(self) -> TensorArray:
        """The same array."""
        return self.with_flow(call("Identity", self.flow))

    def size(self, name: str | None = None) -> Tensor:
        """How many places it has, int32."""
        if self._size is not None:
            return builder_of([self.flow]).tensor(self._size, DType.INT32)
        return call("TensorArraySizeV3", self.handle, self.flow, name=name)

    def read(self, index: TensorLike, name: str | None = None) -> Tensor:
        """The element there, which is then cleared, unless clear_after_read=False."""
        attrs: dict[str, Any] = {"dtype": self.dtype}
        if self.element_shape.dims is not None:
            attrs[SHAPE] = self.element_shape
        return call("TensorArrayReadV3", self.handle, _int(index), self.flow, name=name, **attrs)

    def write(self, index: TensorLike, value: TensorLike, name: str | None = None) -> TensorArray:
        """With `value` there, where nothing may have been written yet."""
        given = self._given(value)
        self._learn(given.shape)
        return self._changed("TensorArrayWrite", _int(index), given, name)

    def stack(self, name: str | None = None) -> Tensor:
        """All elements, along a new first axis."""
        with builder_of([self.flow]).scope(name or "TensorArrayStack"):
            return self.gather(call("Range", 0, self.size(), 1, name="range"))

    def gather(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """The elements at a vector of indices, along a new first axis."""
        attrs = {"dtype": self.dtype, "element_shape": self.element_shape}
        where = _int(indices)
        return call("TensorArrayGatherV3", self.handle, where, self.flow, name=name, **attrs)

    def concat(self, name: str | None = None) -> Tensor:
        """All elements, joined along their first axis."""
        dims = self.element_shape.dims
        rest = Shape(None if dims is None else dims[1:])
        attrs = {"dtype": self.dtype, "element_shape_except0": rest}
        found = call_many("TensorArrayConcatV3", self.handle, self.flow, name=name, **attrs)
        return found[0]

    def unstack(self, value: TensorLike, name: str | None = None) -> TensorArray:
        """With the parts of `value` along its first axis in the places from 0."""
        given = self._given(value)
        with given.builder.scope(name or "TensorArrayUnstack"):
            count = call("Shape", given)[0]
            return self.scatter(call("Range", 0, count, 1, name="range"), given)

    def scatter(
        self, indices: TensorLike, value: TensorLike, name: str | None = None
    ) -> TensorArray:
        """With the parts of `value` along its first axis at a vector of indices."""
        given = self._given(value)
        if given.shape.dims:
            self._learn(Shape(given.shape.dims[1:]))
        return self._changed("TensorArrayScatter", _int(indices), given, name)

    def split(self, value: TensorLike, lengths: TensorLike, name: str | None = None) -> TensorArray:
        """With pieces of `value`, of these lengths along its first axis, in the places from 0."""
        given, builder = self._given(value), builder_of([self.flow])
        sizes = builder.tensor(lengths, DType.INT64)
        if sizes.dtype is not DType.INT64:
            sizes = call("Cast", sizes, DstT=DType.INT64)
        with builder.scope(name or "TensorArraySplit"):
            flow = call("TensorArraySplitV3", self.handle, given, sizes, self.flow)
        return self.with_flow(flow)

    def close(self, name: str | None = None) -> None:
        """Give up what it holds: makes the operation that does."""
        call_many("TensorArrayCloseV3", self.handle, name=name)

    def _changed(
        self, scope: str, where: TensorLike, value: Tensor, name: str | None
    ) -> TensorArray:
        with builder_of([self.flow]).scope(name or scope):
            return self.with_flow(call(f"{scope}V3", self.handle, where, value, self.flow))

    def _given(self, value: TensorLike) -> Tensor:
        return builder_of([self.flow]).tensor(value, self.dtype)

    def _learn(self, shape: Shape) -> None:
        """An element of `shape` is written."""
        if not self._same:
            return
        try:
            self._element[0] = self.element_shape.merge(shape)
        except ValueError:
            raise GradstepError(
                f"Inconsistent shapes: saw {shape} but expected {self.element_shape}",
                kind="ValueError",
                hint="write elements of one shape, or make the array with infer_shape=False",
            ) from None


def _int(value: TensorLike) -> TensorLike:
    return value if isinstance(value, Tensor) else np.asarray(value, np.int32)


FUNCTIONS = {"TensorArray": TensorArray}
