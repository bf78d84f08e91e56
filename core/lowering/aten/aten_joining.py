"""PyTorch's operations that cut tensors up and join them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.core.lowering.aten.aten_table import lower_as_given
from gradstep.core.lowering.aten.aten_tensors import cast, dims, ints, rank, scalar, size_at
from gradstep.core.lowering.lowering_table import Site, UnloweredError, fixed
from gradstep.core.ops.build.builder import Tensor, call

_END = 2**31 - 1


@lower_as_given("cat", "concat", "concatenate")
def cat(site: Site, tensors: list[Tensor], dim: int = 0) -> Tensor:
    """PyTorch leaves out vectors of no elements."""
    full = [x for x in tensors if not (rank(x) == 1 and x.shape.dims == (0,))] or tensors
    known = [cast(x, site.dtype()) for x in full]
    if len(known) == 1:
        return call("Identity", known[0])
    return call("ConcatV2", *known, np.int32(dim % rank(known[0])))


@lower_as_given("hstack", "vstack", "row_stack", "column_stack")
def stacked(site: Site, tensors: list[Tensor]) -> Tensor:
    """Side by side, or one below the other: vectors are columns of column_stack, rows of vstack."""
    name = site.node.op.split(".")[1]
    ends = {"hstack": [-1], "column_stack": [-1, 1]}.get(name, [1, -1])
    least = len(ends)
    whole = [
        call("Reshape", x, ints(ends if rank(x) else [1] * least)) if rank(x) < least else x
        for x in tensors
    ]
    beside = name in ("hstack", "column_stack") and rank(whole[0]) > 1
    return cat(site, whole, 1 if beside else 0)


@lower_as_given("stack")
def stack(site: Site, tensors: list[Tensor], dim: int = 0) -> Tensor:
    known = [cast(x, site.dtype()) for x in tensors]
    return call("Pack", *known, axis=dim % (rank(known[0]) + 1))


@lower_as_given("unbind", "unbind_copy")
def unbind(site: Site, self: Tensor, dim: int = 0) -> Sequence[Tensor]:
    axis = dim % rank(self)
    return site.builder.op("Unpack", self, num=size_at(self, axis), axis=axis)


@lower_as_given(
    "split",
    "split_with_sizes",
    "unsafe_split",
    "unsafe_split_with_sizes",
    "chunk",
    "tensor_split",
    "split_copy",
    ignores=("split_size", "split_sizes", "chunks", "sections", "indices"),
)
def split(site: Site, self: Tensor, dim: int = 0) -> Sequence[Tensor]:
    axis, outputs = dim % rank(self), site.node.outputs
    sizes = fixed([site.shape(i)[axis] for i in range(len(outputs))])
    if len(sizes) == 1:
        return [call("Identity", self)]
    return site.builder.op("SplitV", self, ints(sizes), np.int32(axis), num_split=len(sizes))


@lower_as_given("select", "select_copy")
def select(site: Site, self: Tensor, dim: int, index: Any) -> Tensor:
    axis = dim % rank(self)
    if isinstance(index, Tensor):
        return call("GatherV2", self, index, np.int32(axis))
    at: list[Any] = [slice(None)] * rank(self)
    at[axis] = index
    return self[tuple(at)]


@lower_as_given("slice", "slice_copy")
def cut(
    site: Site, self: Tensor, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Tensor:
    """Ends beyond the end, as 2^63 − 1, are the end."""
    if isinstance(start, Tensor) or isinstance(end, Tensor):
        raise UnloweredError("a slice whose ends are computed")
    end = None if end is None or end >= _END else end
    if start in (None, 0) and end is None and step == 1:
        return call("Identity", self)
    at: list[Any] = [slice(None)] * rank(self)
    at[dim % rank(self)] = slice(start, end, step)
    return self[tuple(at)]


@lower_as_given("narrow", "narrow_copy")
def narrow(site: Site, self: Tensor, dim: int, start: Any, length: int) -> Tensor:
    return cut(site, self, dim, start, start + length)


@lower_as_given("select_scatter")
def select_scatter(site: Site, self: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    axis = dim % rank(self)
    spread = call("BroadcastTo", call("ExpandDims", src, np.int32(axis)), ints(dims(self)))
    return _replaced(self, spread, axis, np.array([index % size_at(self, axis)]))


@lower_as_given("slice_scatter")
def slice_scatter(
    site: Site,
    self: Tensor,
    src: Tensor,
    dim: int = 0,
    start: Any = None,
    end: Any = None,
    step: int = 1,
) -> Tensor:
    axis, size = dim % rank(self), size_at(self, dim % rank(self))
    places = np.arange(size)[slice(start, end, step)]
    index = np.zeros(size, np.int32)  # of each place in self, the one in src
    index[places] = np.arange(len(places))
    if not len(places):
        return call("Identity", self)
    spread = call("GatherV2", src, index, np.int32(axis))
    return _replaced(self, spread, axis, places)


def _replaced(x: Tensor, by: Tensor, axis: int, places: np.ndarray) -> Tensor:
    """`x`, but at these places of an axis `by`."""
    mask = np.zeros(dims(x), bool)
    np.moveaxis(mask, axis, 0)[places] = True
    return call("SelectV2", x.builder.constant(mask), cast(by, x.dtype), x)


@lower_as_given(
    "pad",
    "constant_pad_nd",
    "reflection_pad1d",
    "reflection_pad2d",
    "replication_pad1d",
    "replication_pad2d",
)
def pad(
    site: Site,
    self: Tensor,
    pad: Sequence[int] = (),
    mode: str = "constant",
    value: float | None = None,
    padding: Sequence[int] = (),
) -> Tensor:
    """From the last axis on, before and behind; fewer than none cuts off."""
    name = site.node.op
    if name.startswith("aten.re"):
        mode = "reflect" if "reflection" in name else "replicate"
    around = np.zeros((rank(self), 2), np.int32)
    amounts = [*(pad or padding)]
    for i in range(len(amounts) // 2):
        around[-1 - i] = amounts[2 * i : 2 * i + 2]
    if mode == "constant":
        kept = tuple(slice(max(-int(a), 0), -max(-int(b), 0) or None) for a, b in around)
        x = self[kept] if (around < 0).any() else self
        return call("PadV2", x, np.maximum(around, 0), scalar(self, value or 0))
    return _padded_with_itself(self, around, mode)


def _padded_with_itself(x: Tensor, around: np.ndarray, mode: str) -> Tensor:
    if mode == "reflect":
        return call("MirrorPad", x, around, mode="REFLECT")
    if mode not in ("replicate", "circular"):
        raise UnloweredError(f"padding mode {mode}")
    for axis, (before, behind) in enumerate(around.tolist()):
        if before or behind:
            size = size_at(x, axis)
            wanted = np.arange(-before, size + behind)
            places = wanted % size if mode == "circular" else np.clip(wanted, 0, size - 1)
            x = call("GatherV2", x, places.astype(np.int32), np.int32(axis))
    return x


@lower_as_given("diff")
def diff(
    site: Site,
    self: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    parts = [x for x in (prepend, self, append) if x is not None]
    x = self if len(parts) == 1 else cat(site, parts, dim)
    for _ in range(n):
        later, earlier = cut(site, x, dim, 1), cut(site, x, dim, 0, size_at(x, dim) - 1)
        x = call("Sub", later, earlier)
    return x


@lower_as_given("meshgrid")
def meshgrid(site: Site, tensors: list[Tensor], indexing: str = "ij") -> list[Tensor]:
    if indexing != "ij":
        raise UnloweredError("meshgrid of xy")
    shape = [1 if rank(x) == 0 else size_at(x, 0) for x in tensors]
    made = []
    for i, x in enumerate(tensors):
        one = call("Reshape", x, ints([size if j == i else 1 for j, size in enumerate(shape)]))
        made.append(call("BroadcastTo", one, ints(shape)))
    return made
