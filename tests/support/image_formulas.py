"""What ops on images mean, pixel by pixel in plain loops, and text; shares nothing with kernels."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np

from tests.support.sliding_formulas import visits

Shares = dict[int, float]  # pixel of an axis of the image -> its part in a pixel of the result


def bilinear(at: float, size: int, centers: bool, corners: bool) -> Shares:
    at -= 0.5 if centers else 0
    low = math.floor(at)
    found: Shares = {}
    for pixel, share in ((low, low + 1 - at), (low + 1, at - low)):
        inside = min(max(pixel, 0), size - 1)
        found[inside] = found.get(inside, 0.0) + share
    return found


def nearest(at: float, size: int, centers: bool, corners: bool) -> Shares:
    return {min(math.floor(at + (0.5 if corners else 0)), size - 1): 1.0}


def _axis(kind: Any, size: int, out: int, corners: bool, centers: bool) -> list[Shares]:
    scale = (size - 1) / (out - 1) if corners and out > 1 else size / out
    shift = 0.5 if centers else 0
    return [kind((i + shift) * scale, size, centers, corners) for i in range(out)]


def _visits(kind: Any, sizes: Any, outs: Any, corners: bool, centers: bool) -> Any:
    """(row, column) of the result, of the image, and the image's share."""
    rows, columns = (
        _axis(kind, s, o, corners, centers)
        for s, o in zip(sizes, (int(n) for n in outs), strict=True)
    )
    for (y, row), (x, column) in product(enumerate(rows), enumerate(columns)):
        for (i, a), (j, b) in product(row.items(), column.items()):
            yield (y, x), (i, j), a * b


def resized(kind: Any, x: Any, size: Any, corners: bool, centers: bool) -> Any:
    found = np.zeros((x.shape[0], *size, x.shape[3]))
    for (row, column), (i, j), share in _visits(kind, x.shape[1:3], size, corners, centers):
        found[:, row, column] += share * x[:, i, j]
    return found


def resized_back(kind: Any, g: Any, size: Any, corners: bool, centers: bool) -> Any:
    found = np.zeros((g.shape[0], *size, g.shape[3]))
    for (row, column), (i, j), share in _visits(kind, size, g.shape[1:3], corners, centers):
        found[:, i, j] += share * g[:, row, column]
    return found


def filled(template: str, placeholder: str, inputs: Any, summarize: int) -> Any:
    """NumPy's own texts of whole arrays have this form, too, where numbers are of one width."""
    with np.printoptions(edgeitems=summarize, threshold=0):
        for x in inputs:
            template = template.replace(placeholder, str(x), 1)
    return np.array(template.encode(), object)


def patches(x: Any, ksizes: Any, strides: Any, rates: Any, padding: str) -> Any:
    slide = {"strides": strides, "dilations": rates, "padding": padding, "data_format": "NHWC"}
    found: dict[Any, dict[Any, Any]] = {}
    for place, tap, element in visits(x.shape, ksizes[1:3], slide):
        found.setdefault(place, {})[tap] = x[element]
    shape = [max(place[i] for place in found) + 1 for i in range(3)]
    out = np.zeros((*shape, *ksizes[1:3], x.shape[3]))
    for place, seen in found.items():
        for tap, values in seen.items():
            out[(*place, *tap)] = values
    return out.reshape(*shape, -1)


def distinct_slices(x: Any, axis: Any) -> Any:
    along = int(axis[0]) if axis.size else 0
    found: list[Any] = []
    for part in np.moveaxis(x, along, 0):
        if not any(np.array_equal(part, other) for other in found):
            found.append(part)
    return np.moveaxis(np.array(found), 0, along)


def assigned(variable: Any, place: Any, value: Any) -> Any:
    found = np.array(variable)
    found[place] = value
    return found


NAMES = {
    f.__name__: f
    for f in (bilinear, nearest, resized, resized_back, filled, patches, distinct_slices, assigned)
}
