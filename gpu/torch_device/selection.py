"""Elements chosen, searched and sorted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from gradstep.gpu.torch_device.operands import closed, device_of, lifted, ordered, unordered
from gradstep.gpu.torch_device.promotion import common, kind
from gradstep.gpu.torch_device.torch_array import TorchArray


class Unique(NamedTuple):
    """What `unique` gives where all is asked for."""

    values: Any
    indices: Any
    inverse: Any
    counts: Any


def _where(condition: TorchArray, x: Any, y: Any) -> TorchArray:
    to = common((kind(x), kind(y)))
    device = device_of((condition, x, y))
    chosen = torch.where(condition.t.to(torch.bool), lifted(x, to, device), lifted(y, to, device))
    return closed(chosen, to)


def _take(
    x: TorchArray, indices: TorchArray, axis: int | None = None, out: TorchArray | None = None
) -> TorchArray:
    if axis is None:
        found = x.reshape(-1)[indices]
    else:
        found = x[(slice(None),) * (int(axis) % x.ndim) + (indices,)]
    if out is None:
        return found
    out[...] = found
    return out


def _take_along_axis(x: TorchArray, indices: TorchArray, axis: int) -> TorchArray:
    return x.like(torch.take_along_dim(x.t, indices.t.long(), int(axis)))


def _clip(x: TorchArray, low: Any, high: Any) -> TorchArray:
    found: TorchArray = TorchArray.functions["minimum"](
        TorchArray.functions["maximum"](x, low), high
    )
    return found


def _argsort(x: TorchArray, axis: int = -1, kind: str | None = None) -> TorchArray:
    return TorchArray(torch.argsort(ordered(x), dim=axis, stable=True))


def _searchsorted(edges: TorchArray, x: TorchArray, side: str = "left") -> TorchArray:
    to = common((edges.dtype, x.dtype))
    device = x.t.device
    ends, values = lifted(edges, to, device), lifted(x, to, device)
    return TorchArray(torch.searchsorted(ends, values.contiguous(), right=side == "right"))


def _isin(x: TorchArray, among: TorchArray) -> TorchArray:
    to = common((x.dtype, among.dtype))
    device = x.t.device
    return TorchArray(torch.isin(lifted(x, to, device), lifted(among, to, device)))


def _argwhere(x: TorchArray) -> TorchArray:
    return TorchArray(torch.nonzero(x.t))


def _unique(
    x: TorchArray,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    equal_nan: bool = True,
) -> Any:
    """Sorted; each NaN is one of its own, as PyTorch has it."""
    flat = ordered(x).reshape(-1)
    values, inverse, counts = torch.unique(flat, return_inverse=True, return_counts=True)
    found = Unique(
        closed(unordered(values, x.dtype), x.dtype),
        TorchArray(_first_places(inverse, len(values))),
        TorchArray(inverse.reshape(x.shape)),
        TorchArray(counts),
    )
    wanted = (True, return_index, return_inverse, return_counts)
    chosen = tuple(part for part, asked in zip(found, wanted, strict=True) if asked)
    return chosen if len(chosen) > 1 else chosen[0]


def _first_places(inverse: torch.Tensor, count: int) -> torch.Tensor:
    """Where each value comes first."""
    size = inverse.numel()
    places = torch.arange(size, device=inverse.device)
    first = torch.full((count,), size, dtype=torch.int64, device=inverse.device)
    return first.scatter_reduce(0, inverse, places, "amin")


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "where": _where,
    "take": _take,
    "take_along_axis": _take_along_axis,
    "clip": _clip,
    "argsort": _argsort,
    "searchsorted": _searchsorted,
    "isin": _isin,
    "argwhere": _argwhere,
    "unique": _unique,
}
