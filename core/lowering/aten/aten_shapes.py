"""PyTorch's operations that change shapes: views, permutations, expansions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.core.lowering.aten.aten_table import lower, lower_as_given
from gradstep.core.lowering.aten.aten_tensors import (
    axes_of,
    cast,
    dims,
    ints,
    rank,
    reshape,
    scalar,
    size_at,
    transpose,
)
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.ops.build.builder import Tensor, call


@lower_as_given(
    "view",
    "reshape",
    "_unsafe_view",
    "flatten",
    "unsqueeze",
    "squeeze",
    "unflatten",
    "view_copy",
    "_reshape_alias",
    "unsqueeze_copy",
    "squeeze_copy",
    "atleast_1d",
    "atleast_2d",
    ignores=("size", "shape", "start_dim", "end_dim", "dim", "sizes", "stride", "names"),
)
def view(site: Site, self: Tensor) -> Tensor:
    if site.dtype() is not self.dtype:
        raise UnloweredError("a view of the same bits as another type")
    return reshape(self, site.shape())


@lower_as_given("permute")
def permute(site: Site, self: Tensor, dims: Sequence[int]) -> Tensor:
    return _moved(self, [d % rank(self) for d in dims])


@lower_as_given("transpose", "swapaxes", "t", "numpy_T", "mT", "adjoint", "swapdims")
def swap(
    site: Site,
    self: Tensor,
    dim0: int = -2,
    dim1: int = -1,
    axis0: int | None = None,
    axis1: int | None = None,
) -> Tensor:
    count = rank(self)
    if count < 2:
        return call("Identity", self)
    order = list(range(count))
    a, b = (dim0 if axis0 is None else axis0), (dim1 if axis1 is None else axis1)
    order[a], order[b] = order[b], order[a]
    return _moved(self, order)


@lower_as_given("movedim", "moveaxis")
def movedim(site: Site, self: Tensor, source: Any, destination: Any) -> Tensor:
    order = np.moveaxis(np.empty([i + 2 for i in range(rank(self))], bool), source, destination)
    return _moved(self, [size - 2 for size in order.shape])


def _moved(x: Tensor, order: Sequence[int]) -> Tensor:
    found = transpose(x, order)
    return call("Identity", x) if found is x else found


@lower_as_given(
    "expand", "broadcast_to", "expand_copy", "expand_as", ignores=("size", "implicit", "other")
)
def expand(site: Site, self: Tensor) -> Tensor:
    """A size that may be any stays what it is."""
    shape = site.shape()
    if None not in shape:
        return call("BroadcastTo", self, ints([size or 0 for size in shape]))
    own = (*[1] * (len(shape) - rank(self)), *self.shape)
    times = [1 if a is None or a == b else a for a, b in zip(shape, own, strict=True)]
    if any(b is None and a is not None for a, b in zip(shape, own, strict=True)):
        raise UnloweredError("sizes that may be any")
    return call("Tile", reshape(self, own), ints(times))


@lower_as_given("copy", ignores=("non_blocking",))
def copy(site: Site, self: Tensor, src: Tensor) -> Tensor:
    """What is written over a whole tensor."""
    return call("BroadcastTo", cast(src, self.dtype), ints(site.sizes()))


@lower_as_given("broadcast_tensors")
def broadcast_tensors(site: Site, tensors: list[Tensor]) -> list[Tensor]:
    return [
        call("BroadcastTo", x, ints(site.sizes(i)))
        if dims(x) != site.sizes(i)
        else call("Identity", x)
        for i, x in enumerate(tensors)
    ]


@lower_as_given("repeat", "tile")
def repeat(
    site: Site, self: Tensor, repeats: Sequence[int] = (), dims: Sequence[int] = ()
) -> Tensor:
    times = [*(repeats or dims)]
    times = [1] * (rank(self) - len(times)) + times
    new = len(times) - rank(self)
    x = reshape(self, [*[1] * new, *self.shape]) if new else self
    return call("Tile", x, ints(times))


@lower_as_given("repeat_interleave.self_int", ignores=("output_size",))
def repeat_interleave(site: Site, self: Tensor, repeats: int, dim: int | None = None) -> Tensor:
    x = reshape(self, [-1]) if dim is None else self
    axis = (dim or 0) % rank(x)
    index = np.repeat(np.arange(size_at(x, axis), dtype=np.int32), repeats)
    return call("GatherV2", x, index, np.int32(axis))


@lower_as_given("flip")
def flip(site: Site, self: Tensor, dims: Sequence[int]) -> Tensor:
    return call("ReverseV2", self, ints(axes_of(self, dims)))


@lower_as_given("roll")
def roll(site: Site, self: Tensor, shifts: Sequence[int], dims: Sequence[int] = ()) -> Tensor:
    if not dims:
        flat = call("Roll", reshape(self, [-1]), ints(shifts), ints([0]))
        return reshape(flat, site.shape())
    return call("Roll", self, ints(shifts), ints(axes_of(self, dims)))


@lower_as_given("tril", "triu")
def triangle(site: Site, self: Tensor, diagonal: int = 0) -> Tensor:
    rows, columns = dims(self)[-2:]
    full = np.ones((rows, columns), bool)
    upper = site.node.op.partition(".")[2].startswith("triu")
    kept = np.triu(full, diagonal) if upper else np.tril(full, diagonal)
    mask = site.builder.constant(np.broadcast_to(kept, dims(self)).copy())
    return call("SelectV2", mask, self, np.zeros((), self.dtype.numpy))


@lower_as_given("diagonal")
def diagonal_of(site: Site, self: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """By its places: the diagonal is the last axis."""
    count, a, b = rank(self), dim1 % rank(self), dim2 % rank(self)
    others = [i for i in range(count) if i not in (a, b)]
    x, sizes = transpose(self, [*others, a, b]), dims(self)
    length = site.sizes()[-1]
    row = np.arange(length) + max(-offset, 0)
    flat = row * sizes[b] + np.arange(length) + max(offset, 0)
    matrix = reshape(x, [*(sizes[i] for i in others), sizes[a] * sizes[b]])
    return call("GatherV2", matrix, flat.astype(np.int32), np.int32(len(others)))


@lower_as_given("diag")
def diag(site: Site, self: Tensor, diagonal: int = 0) -> Tensor:
    """The matrix of a vector, or the vector of a matrix."""
    if rank(self) == 2:
        return diagonal_of(site, self, diagonal)
    return diag_embed(site, self, diagonal)


@lower_as_given("diag_embed")
def diag_embed(site: Site, self: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Zeros but on a diagonal, which is the last axis."""
    count = rank(self) + 1
    a, b = dim1 % count, dim2 % count
    any_size = np.int32(-1)
    made = call("MatrixDiagV3", self, np.int32(offset if a < b else -offset), any_size, any_size,
                scalar(self, 0))  # fmt: skip
    others = [i for i in range(count) if i not in (a, b)]
    order = [*others, min(a, b), max(a, b)]
    return transpose(made, [int(i) for i in np.argsort(order)])


@lower_as_given("pixel_shuffle")
def pixel_shuffle(site: Site, self: Tensor, upscale_factor: int) -> Tensor:
    n, c, h, w = dims(self)
    r = upscale_factor
    x = transpose(reshape(self, [n, c // (r * r), r, r, h, w]), [0, 1, 4, 2, 5, 3])
    return reshape(x, [n, c // (r * r), h * r, w * r])


@lower_as_given("unfold")
def unfold(site: Site, self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Windows along one axis, a new last one in each."""
    axis, count = dimension % max(rank(self), 1), site.sizes()[dimension % rank(self)]
    places = np.arange(count)[:, None] * step + np.arange(size)
    x = call("GatherV2", self, places.astype(np.int32), np.int32(axis))
    last = rank(self)
    return transpose(x, [i for i in range(last + 1) if i != axis + 1] + [axis + 1])


@lower_as_given(
    "upsample_nearest2d",
    "_upsample_nearest_exact2d",
    ignores=("output_size", "scale_factors", "scales_h", "scales_w", "input"),
)
def upsample_nearest2d(
    site: Site, self: Tensor | None = None, input: Tensor | None = None
) -> Tensor:
    """Each pixel's index is floor(i · in / out)."""
    x = self if self is not None else input
    assert x is not None
    for axis, new in zip((2, 3), site.sizes()[2:], strict=True):
        old = size_at(x, axis)
        half = 0.5 if "exact" in site.node.op else 0.0
        index = np.minimum(((np.arange(new) + half) * (old / new)).astype(np.int32), old - 1)
        x = call("GatherV2", x, index, np.int32(axis))
    return x


@lower(
    "upsample_bilinear2d",
    "_upsample_bilinear2d_aa",
    ignores=("output_size", "scale_factors", "scales_h", "scales_w"),
)
def upsample_bilinear2d(
    site: Site, align_corners: bool, self: Tensor | None = None, input: Tensor | None = None
) -> Tensor:
    if "_aa" in site.node.op:
        raise UnloweredError("antialiased resizing")
    given = self if self is not None else input
    assert given is not None
    x = transpose(given, [0, 2, 3, 1])
    made = call(
        "ResizeBilinear",
        x,
        ints(site.sizes()[2:]),
        align_corners=bool(align_corners),
        half_pixel_centers=not align_corners,
    )
    return cast(transpose(made, [0, 3, 1, 2]), site.dtype())
