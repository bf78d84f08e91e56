"""Images of another size: each axis by a matrix of shares, or by indices of what is nearest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.lowering.onnx.onnx_known import SizeOf, known_in_part
from gradstep.core.lowering.onnx.onnx_operands import (
    COMPUTED,
    fixed_size,
    in_float,
    mixed,
    positive,
    rank,
    static,
)
from gradstep.core.lowering.onnx.onnx_table import lower, version
from gradstep.core.ops.build.builder import Tensor, call


@dataclass(frozen=True)
class Sampling:
    """How one axis is sampled; from and up to which part of it where it is cropped."""

    mode: str
    coordinates: str
    nearest: str
    cubic: float
    excludes: bool
    antialias: bool
    outside: float
    crop: tuple[float, float] = (0.0, 1.0)

    def places(self, length: int, out: int, scale: float) -> np.ndarray:
        """Where each of `out` elements is, in one of `length`."""
        x = np.arange(out, dtype=np.float64)
        match self.coordinates:
            case "half_pixel":
                return (x + 0.5) / scale - 0.5
            case "half_pixel_symmetric":
                moved = length / 2 * (1 - out / (scale * length))
                return moved + (x + 0.5) / scale - 0.5
            case "pytorch_half_pixel":
                return (x + 0.5) / scale - 0.5 if out > 1 else np.zeros(out)
            case "align_corners":
                return x * (length - 1) / (out - 1) if out != 1 else np.zeros(out)
            case "asymmetric":
                return x / scale
            case "tf_crop_and_resize":
                begin, end = self.crop
                if out <= 1:
                    return np.full(out, 0.5 * (begin + end) * (length - 1))
                return begin * (length - 1) + x * (end - begin) * (length - 1) / (out - 1)
        raise UnloweredError(f"coordinates {self.coordinates!r:.40}")

    def is_outside(self, places: np.ndarray, length: int) -> np.ndarray:
        if self.coordinates != "tf_crop_and_resize":
            return np.zeros(places.shape, bool)
        return (places < 0) | (places > length - 1)

    def nearest_of(self, places: np.ndarray, length: int) -> np.ndarray:
        match self.nearest:
            case "round_prefer_floor":
                found = np.ceil(places - 0.5)
            case "round_prefer_ceil":
                found = np.floor(places + 0.5)
            case "floor":
                found = np.floor(places)
            case "ceil":
                found = np.ceil(places)
            case _:
                raise UnloweredError(f"the nearest by {self.nearest!r:.40}")
        return np.clip(found, 0, length - 1).astype(np.int32)

    def shares(self, places: np.ndarray, length: int, scale: float) -> np.ndarray:
        """[out, length]: how much of each element is in each that comes out."""
        stretch = min(1.0, scale) if self.antialias else 1.0
        reach = int(np.ceil((1 if self.mode == "linear" else 2) / stretch)) + 1
        offsets = np.arange(-reach, reach + 1)
        indices = np.floor(places)[:, None] + offsets
        away = np.abs(indices - places[:, None]) * stretch
        weights = np.maximum(0, 1 - away) if self.mode == "linear" else _cubic(away, self.cubic)
        if self.excludes:
            weights = np.where((indices < 0) | (indices >= length), 0, weights)
        weights = weights / weights.sum(1, keepdims=True)
        found = np.zeros((len(places), length))
        inside = np.clip(indices, 0, length - 1).astype(np.int64)
        np.add.at(found, (np.arange(len(places))[:, None], inside), weights)
        return found


def _cubic(x: np.ndarray, a: float) -> np.ndarray:
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    found: np.ndarray = np.where(x <= 1, near, np.where(x < 2, far, 0))
    return found


def resampled(x: Tensor, axis: int, out: int, scale: float, how: Sampling) -> Tensor:
    """One axis of `x`, of `out` elements."""
    length = fixed_size(x, axis)
    places = how.places(length, out, scale)
    if how.mode == "nearest":
        y = call("GatherV2", x, how.nearest_of(places, length), np.int32(axis))
        return _outside(y, axis, how.is_outside(places, length), how.outside)
    if how.mode not in ("linear", "cubic"):
        raise UnloweredError(f"sampling by {how.mode!r:.40}")
    shares = how.shares(places, length, scale)
    y = in_float(lambda given: mixed(given, axis, shares.T), x)
    return _outside(y, axis, how.is_outside(places, length), how.outside)


def _outside(y: Tensor, axis: int, is_there: np.ndarray, value: float) -> Tensor:
    if not is_there.any():
        return y
    mask = is_there.reshape([-1 if i == axis else 1 for i in range(rank(y))])
    given = y.builder.constant(mask)
    return call("SelectV2", given, np.array(value, y.dtype.numpy), y)


@lower("Resize")
def resize(
    site: Site,
    x: Tensor,
    roi: Tensor | None = None,
    scales: Tensor | None = None,
    sizes: Tensor | None = None,
    *,
    mode: str = "nearest",
    coordinate_transformation_mode: str | None = None,
    nearest_mode: str = "round_prefer_floor",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    antialias: int = 0,
    axes: Sequence[int] | None = None,
    keep_aspect_ratio_policy: str = "stretch",
) -> Tensor:
    """Before version 11 the scales were the second input, and coordinates not told."""
    if version(site) < 11:
        return _scaled(x, roi, mode)
    chosen = [positive(a, rank(x)) for a in (axes if axes is not None else range(rank(x)))]
    count = len(chosen)
    how = Sampling(
        mode, coordinate_transformation_mode or "half_pixel", nearest_mode, cubic_coeff_a,
        bool(exclude_outside), bool(antialias), extrapolation_value,
    )  # fmt: skip
    crops: list[Any] = [(0.0, 1.0)] * count
    if how.coordinates == "tf_crop_and_resize" and roi is not None:
        told = static(roi, "what is cropped").astype(np.float64)
        crops = list(zip(told[:count], told[count:], strict=True))
    asked, by_size = _asked(scales, sizes), sizes is not None
    changed = [i for i, axis in enumerate(chosen) if not _stays(x, axis, asked[i], by_size)]
    lengths = [fixed_size(x, chosen[i]) for i in changed]
    numbers = [_number(asked[i]) for i in changed]
    crops = [crops[i] for i in changed]
    ends, factors = _ends(lengths, numbers, by_size, crops, keep_aspect_ratio_policy)
    for i, out, scale, crop in zip(changed, ends, factors, crops, strict=True):
        own = replace(how, crop=(float(crop[0]), float(crop[1])))
        cropped = how.coordinates == "tf_crop_and_resize"
        if out != fixed_size(x, chosen[i]) or scale != 1 or cropped:
            x = resampled(x, chosen[i], out, scale, own)
    return x


def _asked(scales: Tensor | None, sizes: Tensor | None) -> Sequence[float | SizeOf]:
    """The size of each axis, or else its scale."""
    if sizes is None:
        if scales is None:
            raise UnloweredError("neither scales nor sizes")
        return [float(one) for one in static(scales, "its scales").reshape(-1)]
    told = known_in_part(sizes)
    if told is None:
        raise UnloweredError(f"its sizes {COMPUTED}")
    return told


def _stays(x: Tensor, axis: int, asked: float | SizeOf, by_size: bool) -> bool:
    """Whether it is an axis that may be of any size, and is to be of that: a batch."""
    if tuple(x.shape)[axis] is not None:
        return False
    return asked == (SizeOf(x.ref, axis) if by_size else 1)


def _number(asked: float | SizeOf) -> float:
    if isinstance(asked, SizeOf):
        raise UnloweredError(f"its sizes {COMPUTED}")
    return asked


def _ends(
    lengths: Sequence[int],
    asked: Sequence[float],
    by_size: bool,
    crops: Sequence[tuple[float, float]],
    policy: str,
) -> tuple[list[int], list[float]]:
    """How many elements each axis has then, and by what it grows."""
    if by_size:
        told = [int(one) for one in asked]
        factors = [out / n for out, n in zip(told, lengths, strict=True)]
        if policy != "stretch":
            same = min(factors) if policy == "not_larger" else max(factors)
            factors = [same] * len(factors)
            told = [int(np.floor(same * n + 0.5)) for n in lengths]
        return told, factors
    parts = [n * (end - begin) for n, (begin, end) in zip(lengths, crops, strict=True)]
    return [int(np.floor(n * s)) for n, s in zip(parts, asked, strict=True)], [*asked]


@lower("Upsample")
def upsample(
    site: Site,
    x: Tensor,
    by: Tensor | None = None,
    *,
    mode: str = "nearest",
    scales: Sequence[float] | None = None,
) -> Tensor:
    given = by if by is not None else site.constant(np.array(scales or [], np.float32))
    return _scaled(x, given, mode)


def _scaled(x: Tensor, scales: Tensor | None, mode: str) -> Tensor:
    how = Sampling(mode, "asymmetric", "floor", -0.75, False, False, 0.0)
    for axis, asked in enumerate(_asked(scales, None)):
        scale = _number(asked)
        if scale != 1:
            length = fixed_size(x, axis)
            x = resampled(x, axis, int(np.floor(length * scale)), scale, how)
    return x
