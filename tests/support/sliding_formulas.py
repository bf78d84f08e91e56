"""Convolution and pooling as their definitions say it: one window after another, in plain loops.

`slide` is what the attributes say, by name. Slow, and shares nothing with the kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

ATTRIBUTES = {"ksize", "strides", "padding", "explicit_paddings", "dilations", "data_format"}


def correlate(x: Any, w: Any, slide: Any) -> Any:
    """The sum over each window of its values times the filter; fewer channels in the filter than
    in the image make groups."""
    image, last = _last(x, slide)
    groups = image.shape[-1] // w.shape[-2]
    out = np.zeros((*_out(image, w.shape[:-2], slide), w.shape[-1]), x.dtype)
    for place, tap, element in visits(image.shape, w.shape[:-2], slide):
        pieces = zip(np.split(image[element], groups), np.split(w[tap], groups, -1), strict=True)
        out[place] += np.concatenate([values @ weights for values, weights in pieces])
    return last(out)


def correlate_to_input(sizes: Any, w: Any, g: Any, slide: Any) -> Any:
    grad, last = _last(g, slide)
    out, _ = _last(np.zeros(tuple(sizes), g.dtype), slide)
    groups = out.shape[-1] // w.shape[-2]
    for place, tap, element in visits(out.shape, w.shape[:-2], slide):
        pieces = zip(np.split(grad[place], groups), np.split(w[tap], groups, -1), strict=True)
        out[element] += np.concatenate([weights @ values for values, weights in pieces])
    return last(out)


def correlate_to_filter(x: Any, sizes: Any, g: Any, slide: Any) -> Any:
    (image, _), (grad, _) = _last(x, slide), _last(g, slide)
    out = np.zeros(tuple(sizes), x.dtype)
    groups = image.shape[-1] // out.shape[-2]
    for place, tap, element in visits(image.shape, out.shape[:-2], slide):
        pieces = zip(np.split(image[element], groups), np.split(grad[place], groups), strict=True)
        out[tap] += np.concatenate([np.outer(a, b) for a, b in pieces], -1)
    return out


def correlate_planes(x: Any, w: Any, slide: Any) -> Any:
    image, last = _last(x, slide)
    out = np.zeros((*_out(image, w.shape[:-2], slide), *w.shape[-2:]), x.dtype)
    for place, tap, element in visits(image.shape, w.shape[:-2], slide):
        out[place] += image[element][:, None] * w[tap]
    return last(out.reshape(*out.shape[:-2], -1))


def correlate_planes_to_input(sizes: Any, w: Any, g: Any, slide: Any) -> Any:
    grad, last = _last(g, slide)
    out, _ = _last(np.zeros(tuple(sizes), g.dtype), slide)
    for place, tap, element in visits(out.shape, w.shape[:-2], slide):
        out[element] += (grad[place].reshape(w.shape[-2:]) * w[tap]).sum(-1)
    return last(out)


def correlate_planes_to_filter(x: Any, sizes: Any, g: Any, slide: Any) -> Any:
    (image, _), (grad, _) = _last(x, slide), _last(g, slide)
    out = np.zeros(tuple(sizes), x.dtype)
    for place, tap, element in visits(image.shape, out.shape[:-2], slide):
        out[tap] += image[element][:, None] * grad[place].reshape(out.shape[-2:])
    return out


def pool(reduce: Any, x: Any, slide: Any) -> Any:
    """`reduce` of the values in each window, padding left out."""
    seen = _seen(x, slide)
    out = np.zeros([max(p[i] for p in seen) + 1 for i in range(x.ndim)], x.dtype)
    for place, elements in seen.items():
        out[place] = reduce([x[e] for e in elements])
    return out


def pool_mean_back(sizes: Any, g: Any, slide: Any) -> Any:
    out = np.zeros(tuple(sizes), g.dtype)
    for place, elements in _seen(out, slide).items():
        for element in elements:
            out[element] += g[place] / len(elements)
    return out


def pool_max_back(x: Any, g: Any, slide: Any) -> Any:
    """Each gradient goes to the first of its window's largest values."""
    out = np.zeros_like(x)
    for place, elements in _seen(x, slide).items():
        out[max(elements, key=lambda e: x[e])] += g[place]
    return out


def pool_at(x: Any, y: Any, slide: Any) -> Any:
    """`y` at the first of each window's largest values in `x`."""
    places = np.arange(x.size).reshape(x.shape)
    return y.reshape(-1)[argpool(x, slide, places)]


def argpool(x: Any, slide: Any, places: Any) -> Any:
    seen = _seen(x, slide)
    out = np.zeros([max(p[i] for p in seen) + 1 for i in range(x.ndim)], places.dtype)
    for place, elements in seen.items():
        out[place] = places[max(elements, key=lambda e: x[e])]
    return out


def visits(image: Any, window: Any, slide: Any) -> Iterator[tuple[Any, Any, Any]]:
    """(output, tap, element) for every element of every window, of images [n, spatial…, c]."""
    axes = [_axis(i, n, k, slide) for i, (n, k) in enumerate(zip(image[1:-1], window, strict=True))]
    for n in range(image[0]):
        for way in product(*axes):
            place, tap, element = zip(*way, strict=True)
            yield (n, *place), tap, (n, *element)


def _axis(index: int, size: int, window: int, slide: Any) -> list[tuple[int, int, int]]:
    """(output, tap, element) along one spatial axis, padding left out."""
    place = index + (2 if slide["data_format"].startswith("NC") else 1)
    stride = slide["strides"][place]
    dilation = slide.get("dilations", [1] * 5)[place]
    return _line(size, window, stride, dilation, _before(place, size, window, slide), slide)


def _line(
    size: int, window: int, stride: int, dilation: int, pads: tuple[int, int], slide: Any
) -> list[tuple[int, int, int]]:
    padded = [None] * pads[0] + list(range(size)) + [None] * pads[1]
    found = []
    starts = range(0, len(padded) - (window - 1) * dilation, stride)
    for out, start in enumerate(starts):
        for tap in range(window):
            element = padded[start + tap * dilation]
            if element is not None:
                found.append((out, tap, element))
    return found


def _before(place: int, size: int, window: int, slide: Any) -> tuple[int, int]:
    if slide["padding"] == "EXPLICIT":
        before, after = slide["explicit_paddings"][2 * place : 2 * place + 2]
        return before, after
    if slide["padding"] == "VALID":
        return 0, 0
    stride = slide["strides"][place]
    reach = (window - 1) * slide.get("dilations", [1] * 5)[place] + 1
    outputs = (size + stride - 1) // stride
    total = max((outputs - 1) * stride + reach - size, 0)
    return total // 2, total - total // 2


def _seen(x: Any, slide: Any) -> dict[Any, list[Any]]:
    """The elements in each pooling window, which may slide along any axis."""
    lines = []
    for place, (size, window) in enumerate(zip(x.shape, slide["ksize"], strict=True)):
        pads = _before(place, size, window, slide)
        lines.append(_line(size, window, slide["strides"][place], 1, pads, slide))
    found: dict[Any, list[Any]] = {}
    for way in product(*lines):
        place, _, element = zip(*way, strict=True)
        found.setdefault(place, []).append(element)
    return found


def _out(image: Any, window: Any, slide: Any) -> tuple[int, ...]:
    pairs = enumerate(zip(image.shape[1:-1], window, strict=True))
    return (
        image.shape[0],
        *(max(o for o, _, _ in _axis(i, n, k, slide)) + 1 for i, (n, k) in pairs),
    )


def _last(x: Any, slide: Any) -> tuple[Any, Any]:
    """`x` with the channels last, and what brings such images back into the format."""
    if slide["data_format"].startswith("NC"):
        return np.moveaxis(x, 1, -1), lambda y: np.moveaxis(y, -1, 1)
    return x, lambda y: y


NAMES = {
    f.__name__: f
    for f in (
        correlate,
        correlate_to_input,
        correlate_to_filter,
        correlate_planes,
        correlate_planes_to_input,
        correlate_planes_to_filter,
        pool,
        pool_mean_back,
        pool_max_back,
        pool_at,
        argpool,
    )
}
