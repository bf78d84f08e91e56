"""Names for the formulas of the array ops: each written the plain way, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np


def unmirror(x: Any, paddings: Any, mode: str) -> Any:
    """What each place of the padded tensor shows is found by padding the numbers of the places."""
    sizes = [n - sum(p) for n, p in zip(x.shape, paddings.tolist(), strict=True)]
    shown = np.pad(np.arange(np.prod(sizes)).reshape(sizes), paddings, mode=mode.lower())
    return np.bincount(shown.ravel(), x.ravel(), int(np.prod(sizes))).reshape(sizes)


def pieces(value: Any, sizes: Any, axis: Any) -> Any:
    """Of the given sizes; -1 is what is left."""
    known = np.where(sizes < 0, value.shape[axis] - sizes[sizes >= 0].sum(), sizes)
    return np.split(value, np.cumsum(known)[:-1], int(axis))


def reverse_sequence(x: Any, lengths: Any, seq_dim: int, batch_dim: int) -> Any:
    rows = np.array(np.moveaxis(x, (batch_dim, seq_dim), (0, 1)))
    for row, length in zip(rows, lengths.tolist(), strict=True):
        row[:length] = row[:length][::-1].copy()
    return np.moveaxis(rows, (0, 1), (batch_dim, seq_dim))


def distinct(x: Any) -> Any:
    found: list[Any] = []
    for value in x.tolist():
        if value not in found or value != value:
            found.append(value)
    return np.array(found, x.dtype)


def in_top(predictions: Any, targets: Any, k: Any) -> Any:
    found = []
    for row, target in zip(predictions, targets.tolist(), strict=True):
        known = 0 <= target < len(row) and np.isfinite(row).all()
        found.append(bool(known and sum(row > row[target]) < k))
    return np.array(found)


def stitched(indices: list[Any], data: list[Any]) -> Any:
    count = 1 + max((int(i.max()) for i in indices if i.size), default=-1)
    total = np.zeros((count, *data[0].shape[indices[0].ndim :]), data[0].dtype)
    for places, values in zip(indices, data, strict=True):
        for place in np.ndindex(places.shape):
            total[places[place]] = values[place]
    return total


def combined(tensor: Any, indices: Any, updates: Any, combine: Any) -> Any:
    """Update after update; `combine` of what is there and the update, None: the update."""
    total = np.array(tensor)
    for place in np.ndindex(indices.shape[:-1]):
        at = tuple(indices[place])
        total[at] = updates[place] if combine is None else combine(total[at], updates[place])
    return total


def segments(data: Any, ids: Any, count: Any, reduce: Any, empty: Any) -> Any:
    """`reduce` of the rows of each segment; `empty` where there are none."""
    total = np.full((int(count), *data.shape[ids.ndim :]), empty, data.dtype)
    flat = data.reshape((ids.size, *data.shape[ids.ndim :]))
    for segment in {i for i in ids.ravel().tolist() if i >= 0}:
        total[segment] = reduce(flat[ids.ravel() == segment], axis=0)
    return total


def lowest(x: Any) -> Any:
    return np.finfo(x.dtype).min if x.dtype.kind == "f" else np.iinfo(x.dtype).min


def highest(x: Any) -> Any:
    return np.finfo(x.dtype).max if x.dtype.kind == "f" else np.iinfo(x.dtype).max


def last(ids: Any) -> int:
    """One more than the last id."""
    return int(ids[-1]) + 1 if ids.size else 0


def root_mean(x: Any, axis: int) -> Any:
    """The sum over the square root of how many."""
    return np.sum(x, axis=axis) / np.sqrt(x.shape[axis])


def spread_rows(g: Any, indices: Any, ids: Any, size: Any, kind: str) -> Any:
    """Each index gets its segment's row, over its number of rows for Mean, its root for SqrtN."""
    total = np.zeros((int(size), *g.shape[1:]), g.dtype)
    power = {"Sum": 0.0, "Mean": 1.0, "SqrtN": 0.5}[kind]
    for index, segment in zip(indices.tolist(), ids.tolist(), strict=True):
        total[index] += g[segment] / np.sum(ids == segment) ** power
    return total


def blocks_to_batch(x: Any, block: Any, paddings: Any) -> Any:
    """Each batch of the result is every block-th element, from its own start."""
    around = [(0, 0), *paddings.tolist(), *[(0, 0)] * (x.ndim - 1 - len(block))]
    full = np.pad(x, around)
    starts = np.ndindex(*block.tolist())
    steps = block.tolist()
    pieces = [
        full[(slice(None), *(slice(s, None, n) for s, n in zip(start, steps, strict=True)))]
        for start in starts
    ]
    return np.concatenate(pieces)


def batch_to_blocks(x: Any, block: Any, crops: Any) -> Any:
    """The batches woven into each other, then cropped."""
    steps, count = block.tolist(), len(block)
    batch = x.shape[0] // int(np.prod(steps))
    sizes = [n * s for n, s in zip(x.shape[1 : 1 + count], steps, strict=True)]
    full = np.zeros((batch, *sizes, *x.shape[1 + count :]), x.dtype)
    for number, start in enumerate(np.ndindex(*steps)):
        woven = (slice(None), *(slice(s, None, n) for s, n in zip(start, steps, strict=True)))
        full[woven] = x[number * batch : (number + 1) * batch]
    kept = [slice(a, n - b) for (a, b), n in zip(crops.tolist(), sizes, strict=True)]
    return full[(slice(None), *kept)]


def depth_of_blocks(x: Any, size: int, data_format: str) -> Any:
    """Each block's pixels one after the other as channels."""
    if data_format == "NCHW":
        moved = depth_of_blocks(np.moveaxis(x, 1, -1), size, "NHWC")
        return np.moveaxis(moved, -1, 1)
    pixels = [x[:, i::size, j::size] for i in range(size) for j in range(size)]
    return np.concatenate(pixels, axis=-1)


def blocks_of_depth(x: Any, size: int, data_format: str) -> Any:
    """Channels laid out as blocks of pixels."""
    if data_format == "NCHW":
        moved = blocks_of_depth(np.moveaxis(x, 1, -1), size, "NHWC")
        return np.moveaxis(moved, -1, 1)
    n, h, w, c = x.shape
    depth = c // size**2
    full = np.zeros((n, h * size, w * size, depth), x.dtype)
    for number, (i, j) in enumerate(np.ndindex(size, size)):
        full[:, i::size, j::size] = x[..., number * depth : (number + 1) * depth]
    return full


def histogram(values: Any, value_range: Any, nbins: Any, dtype: Any) -> Any:
    """Counts of equal bins; what is outside counts in the first or last."""
    low, high = value_range.tolist()
    total = np.zeros(int(nbins), str(dtype))
    for value in values.ravel().tolist():
        place = int((min(max(value, low), high) - low) / ((high - low) / int(nbins)))
        total[min(place, int(nbins) - 1)] += 1
    return total


def counts(arr: Any, size: Any, weights: Any) -> Any:
    """How often each number below `size` occurs in each row, or the sum of its weights."""
    if arr.ndim == 2:
        of_rows = weights if weights.size else [weights] * len(arr)
        return np.stack([counts(row, size, w) for row, w in zip(arr, of_rows, strict=True)])
    total = np.zeros(int(size), weights.dtype)
    flat = weights.ravel() if weights.size else np.ones(arr.size, weights.dtype)
    for value, weight in zip(arr.ravel().tolist(), flat, strict=True):
        if value < size:
            total[value] += weight
    return total


NAMES = {name: f for name, f in list(globals().items()) if callable(f) and name.islower()}
