"""A tensor array: places for tensors, each written once; of a gradient, added to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.ops.declare.shape_rules import brackets
from gradstep.core.ops.state.opaque_state import SHOWN, OpaqueState, short


class ArrayPlace(NamedTuple):
    """value: None where nothing was written, or what was is cleared. shape: of what was written
    there, or in the array that this is the gradient of."""

    value: Any = None
    shape: tuple[int, ...] | None = None
    written: bool = False
    read: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class TensorArray(OpaqueState):
    """Never changed: what changes it gives another one. Places are given with their handle's text,
    for messages, which are TensorFlow's.

    adds:   what is written to a place again is added (the gradient of an array).
    clears: reading leaves a place without its value.
    same:   all elements are of one shape.
    """

    dtype: DType
    places: tuple[ArrayPlace, ...]
    element: Shape
    grows: bool = False
    clears: bool = True
    same: bool = False
    adds: bool = False
    closed: bool = False

    @staticmethod
    def noun() -> str:
        return "tensor array"

    @property
    def size(self) -> int:
        return len(self.places)

    def gradient(self) -> TensorArray:
        """An array for the gradients of this one's elements."""
        places = tuple(ArrayPlace(shape=place.shape) for place in self.places)
        return TensorArray(self.dtype, places, self.element, same=self.same, adds=True)

    def written(self, handle: str, indices: Iterable[int], values: Sequence[Any]) -> TensorArray:
        """With these values, each its own copy, at these places. Raises GradstepError."""
        places, element = [*self.places], self.element
        for index, value in zip(indices, values, strict=True):
            if index < 0 or (index >= len(places) and not self.grows):
                raise GradstepError(
                    f"TensorArray {handle}: Tried to write to index {index} but array is not "
                    f"resizeable and size is: {len(places)}",
                    hint="give the array a larger size, or dynamic_size=True",
                )
            element = self._fitting(handle, index, value, element)
            places += [ArrayPlace()] * (index + 1 - len(places))
            places[index] = self._place(handle, index, places[index], value)
        return replace(self, places=tuple(places), element=element)

    def _fitting(self, handle: str, index: int, value: Any, element: Shape) -> Shape:
        """What is known of the elements' shape with `value` among them."""
        if not element.accepts(value.shape):
            raise GradstepError(
                f"TensorArray {handle}: Could not write to TensorArray index {index} because the "
                f"value shape is {brackets(value.shape)} which is incompatible with the "
                f"TensorArray's inferred element shape: {brackets(element.dims)} (consider setting "
                "infer_shape=False).",
                hint="all elements of this array have to be of one shape",
            )
        return Shape(tuple(value.shape)) if self.same else element

    def _place(self, handle: str, index: int, place: ArrayPlace, value: Any) -> ArrayPlace:
        where = f"TensorArray {handle}: Could not write to TensorArray index {index} because it has"
        if place.read:
            raise GradstepError(f"{where} already been read.", hint="write before reading")
        if place.written and not self.adds:
            raise GradstepError(
                f"{where} already been written to.", hint="a place can be written to once"
            )
        if not place.written:
            return ArrayPlace(value, tuple(value.shape), True)
        if place.value.shape != value.shape:
            raise GradstepError(
                f"TensorArray {handle}: Could not aggregate to TensorArray index {index} because "
                f"the existing shape is {brackets(place.value.shape)} but the new input shape is "
                f"{brackets(value.shape)}."
            )
        return place._replace(value=place.value + value)

    def look(self, handle: str, indices: Iterable[int], xp: Any) -> tuple[list[Any], TensorArray]:
        """What is at these places, and the array once that is read. Raises GradstepError."""
        places, found = [*self.places], []
        for index in indices:
            if not 0 <= index < len(places):
                raise GradstepError(
                    f"Tried to read from index {index} but array size is: {len(places)}",
                    hint=f"read from 0 to {len(places) - 1}" if places else "it has no places",
                )
            found.append(self._value(handle, index, places[index], xp))
            left = None if self.clears else places[index].value
            places[index] = places[index]._replace(value=left, read=True)
        return found, replace(self, places=tuple(places))

    def _value(self, handle: str, index: int, place: ArrayPlace, xp: Any) -> Any:
        if place.read and self.clears:
            raise GradstepError(
                f"TensorArray {handle}: Could not read index {index} twice because it was cleared "
                "after a previous read (perhaps try setting clear_after_read = false?).",
                hint="make the array with clear_after_read=False",
            )
        if place.written:
            return place.value
        shape = place.shape
        if shape is None and self.element.is_static:
            shape = self.element.static()
        if shape is not None:
            return xp.zeros(shape, self.dtype.numpy)
        raise GradstepError(
            f"TensorArray {handle}: Could not read from TensorArray index {index}.  Furthermore, "
            f"the element shape is not fully defined: {brackets(self.element.dims)}.  It is "
            "possible you are working with a resizeable TensorArray and stop_gradients is not "
            "allowing the gradients to be written.  If you set the full element_shape property on "
            "the forward TensorArray, the proper all-zeros tensor will be returned instead of "
            "incurring this error.",
            hint="write to that place first, or give the array an element_shape",
        )

    @property
    def nbytes(self) -> int:
        return sum(int(place.value.nbytes) for place in self.places if place.value is not None)

    def __str__(self) -> str:
        if self.closed:
            return "closed"
        shown = ", ".join(_shown(place) for place in self.places[:SHOWN])
        more = ", …" if self.size > SHOWN else ""
        return f"{self.size} of {self.dtype.value}{self.element}: [{shown}{more}]"


def _shown(place: ArrayPlace) -> str:
    if place.value is not None:
        return short(place.value)
    return "cleared" if place.read else "-"
