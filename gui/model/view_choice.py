"""What is shown of a tensor, and how: what suits its shape at first, then what the user chose."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Literal

import numpy as np
from msgspec import structs

from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.number_kinds import wide_type
from gradstep.core.host.tensors.axis_layout import (
    Arranged,
    Layout,
    arrange,
    channel_axis,
    first_layout,
    is_kernel,
)
from gradstep.core.host.tensors.slice_syntax import Picks, all_of
from gradstep.core.protocol.messages import OtherTensor, TensorSlice
from gradstep.gui.look.colour_maps import MapName, RangeName
from gradstep.gui.model.value_cache import TensorValue

ViewKind = Literal["table", "heat_map", "image", "histogram", "line", "history"]
KINDS: dict[ViewKind, str] = {
    "table": "Table",
    "heat_map": "Heat map",
    "image": "Image",
    "histogram": "Histogram",
    "line": "Line",
    "history": "History",
}

_READ_AT_ONCE = 64  # elements that are a table at first: nothing tells more than the numbers
_WORDS = (DType.STRING, DType.RESOURCE)


@dataclass(frozen=True, slots=True)
class View:
    """layout: axes of the tensor that are rows, columns and channels (these only in an image);
    None: those that suit it.
    colours, range (of an image): "": those that suit it. minus: what the difference is shown to."""

    kind: ViewKind
    picks: Picks
    layout: Layout | None = None
    colours: MapName | Literal[""] = ""
    range: RangeName | Literal[""] = ""
    minus: OtherTensor | None = None

    @property
    def arranged(self) -> Arranged:
        layout = self.layout or self._suited
        if self.kind != "image":
            layout = Layout(layout.rows, layout.columns)
        return arrange(self.picks, layout)

    @property
    def _suited(self) -> Layout:
        """Pictures by what the shape looks like; all else as NumPy prints it."""
        rank = len(self.picks.shape)
        if self.kind in ("image", "heat_map"):
            return first_layout(self.picks.shape)
        return Layout(rank - 2, rank - 1)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The slice's shape, its axes in the order in which they are shown."""
        sizes = self.picks.sizes
        return tuple(sizes[axis] for axis in self.arranged.order)

    def part(self, ref: str) -> TensorSlice:
        """As the engine is asked for it."""
        order = self.arranged.order
        axes = [] if order == tuple(range(len(order))) else [*order]
        return structs.replace(self.slice_of(ref), axes=axes)

    def slice_of(self, ref: str) -> TensorSlice:
        """The same with the axes in the tensor's own order, as it is taken elsewhere."""
        index = "" if self.picks.is_whole else self.picks.text
        return TensorSlice(ref=ref, index=index, minus=self.minus)

    def shown_dtype(self, dtype: str) -> DType:
        """Of the numbers that are seen: differences of whole numbers are float64, of bfloat16
        float32."""
        kind = DType(dtype)
        if self.minus is None:
            return kind
        return DType.FLOAT64 if kind.numpy.kind in "biu" else DType.of(wide_type(kind.numpy))

    def cell_of(self, position: tuple[int, ...]) -> tuple[int, int]:
        """Row and column of an element in the table."""
        if len(self.sizes) < 2:
            return (position[0] if position else 0), 0
        return int(np.ravel_multi_index(position[:-1], self.sizes[:-1])), position[-1]

    def number_of(self, position: tuple[int, ...]) -> int:
        """Row-major, in what is shown."""
        return int(np.ravel_multi_index(position, self.sizes)) if self.sizes else 0

    def position_at(self, number: int) -> tuple[int, ...]:
        """Of the element of that number."""
        found = np.unravel_index(number, self.sizes) if self.sizes else ()
        return tuple(int(at) for at in found)

    def index_at(self, row: int, column: int) -> tuple[int, ...]:
        """Where a cell of the table lies in the tensor."""
        width = self.sizes[-1] if len(self.sizes) > 1 else 1
        return self.index_of(self.position_at(row * width + column))

    def row_label(self, row: int) -> str:
        """A row's own indices: "3", or "0, 3" where rows are of several axes."""
        axes = self.arranged.axes
        index = self.index_at(row, 0)
        return ", ".join(str(index[axis]) for axis in (axes[:-1] if len(axes) > 1 else axes))

    def column_label(self, column: int) -> str:
        """A column's index; of a vector's one column there is none."""
        axes = self.arranged.axes
        return str(self.index_at(0, column)[axes[-1]]) if len(axes) > 1 else ""

    def index_of(self, position: tuple[int, ...]) -> tuple[int, ...]:
        """Where an element of what is shown lies in the tensor."""
        kept = [0] * len(position)
        for at, axis in zip(position, self.arranged.order, strict=True):
            kept[axis] = at
        return self.picks.index_of(kept)

    def position_of(self, index: tuple[int, ...]) -> tuple[int, ...] | None:
        """Where an element of the tensor is shown; None where it is not."""
        kept = self.picks.position_of(index)
        return None if kept is None else tuple(kept[axis] for axis in self.arranged.order)


def is_number(dtype: str) -> bool:
    """Whether there is more to show of it than a table."""
    return bool(dtype) and DType(dtype) not in _WORDS


def first_view(value: TensorValue) -> View:
    """What suits a tensor's element type and shape."""
    return View(first_kind(value), all_of(value.shape))


def first_kind(value: TensorValue) -> ViewKind:
    """A table of what can be read at once; else images where there are channels, lines of vectors,
    and heat maps."""
    shape = value.shape
    if not is_number(value.dtype) or prod(shape) <= _READ_AT_ONCE or not prod(shape):
        return "heat_map" if is_kernel(shape) and is_number(value.dtype) else "table"
    if channel_axis(shape) >= 0:
        return "image"
    return "line" if len([size for size in shape if size > 1]) < 2 else "heat_map"
