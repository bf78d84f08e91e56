"""The few functions beside NumPy's own that formulas use, as a script for NumPy has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

HELPERS = {
    "axes": "def axes(a):\n    return tuple(int(i) for i in np.ravel(a))\n",
    "add_all": "def add_all(values):\n    return sum(values[1:], values[0])\n",
    "astype": "def astype(x, dtype):\n    return np.asarray(x).astype(dtype)\n",
    "adjoint_if": "def adjoint_if(wanted, x):\n"
    "    return np.conj(np.swapaxes(x, -1, -2)) if wanted else x\n",
    "between": "def between(t, low, high):\n    return np.maximum(np.minimum(t, high), low)\n",
    "rows": "def rows(condition, t):\n    more = t.ndim - np.ndim(condition)\n"
    "    return np.reshape(condition, np.shape(condition) + (1,) * more)\n",
    "channels": "def channels(bias, value, data_format):\n"
    "    more = (1,) * (value.ndim - 2) if data_format.startswith('NC') else ()\n"
    "    return bias.reshape(-1, *more)\n",
    "others": "def others(x, data_format):\n"
    "    channel = 1 if data_format.startswith('NC') else x.ndim - 1\n"
    "    return tuple(i for i in range(x.ndim) if i != channel)\n",
    "gather": "def gather(params, indices, axis, batch_dims):\n    if batch_dims:\n"
    "        pairs = zip(params, indices)\n"
    "        return np.stack([gather(p, i, axis - 1, batch_dims - 1) for p, i in pairs])\n"
    "    return np.take(params, indices, axis=int(axis))\n",
    "rows_of": "def rows_of(indices):\n    return tuple(np.moveaxis(indices, -1, 0))\n",
    "scatter": "def scatter(indices, updates, shape):\n"
    "    total = np.zeros(shape, updates.dtype)\n"
    "    np.add.at(total, tuple(np.moveaxis(indices, -1, 0)), updates)\n    return total\n",
    "segments": "def segments(data, ids, count, reduce, neutral):\n"
    "    found = [data[ids == i] for i in range(int(count))]\n"
    "    rest = np.full(data.shape[np.ndim(ids):], neutral, data.dtype)\n"
    "    return np.stack([reduce(x, 0) if len(x) else rest for x in found])\n",
    "one_hot": "def one_hot(indices, depth, axis):\n"
    "    hit = np.asarray(indices)[..., None] == np.arange(depth)\n"
    "    return np.moveaxis(hit, -1, axis)\n",
    "box": "def box(x, begin, size):\n    pairs = zip(np.ravel(begin), np.ravel(size))\n"
    "    return x[tuple(slice(b, None if s == -1 else b + s) for b, s in pairs)]\n",
    "slices": "def slices(x, begin, end, strides, masks):\n    index = []\n"
    "    for i, (b, e, s) in enumerate(zip(begin.tolist(), end.tolist(), strides.tolist())):\n"
    "        has = {n.removesuffix('_mask') for n, m in masks.items() if m >> i & 1}\n"
    "        if 'ellipsis' in has:\n            index.append(Ellipsis)\n"
    "        elif 'new_axis' in has:\n            index.append(None)\n"
    "        elif 'shrink_axis' in has:\n            index.append(b)\n        else:\n"
    "            ends = None if 'begin' in has else b, None if 'end' in has else e\n"
    "            index.append(slice(*ends, s))\n"
    "    return tuple(index)\n",
    "slices_back": "def slices_back(shape, begin, end, strides, masks, dy):\n"
    "    total = np.zeros(tuple(shape), dy.dtype)\n"
    "    total[slices(total, begin, end, strides, masks)] = dy\n    return total\n",
    "pieces": "def pieces(value, sizes, axis):\n"
    "    left = value.shape[int(axis)] - np.sum(sizes[sizes >= 0])\n"
    "    ends = np.cumsum(np.where(sizes < 0, left, sizes))\n"
    "    return np.split(value, ends[:-1], int(axis))\n",
    "batch_norm": '''def batch_norm(x, scale, offset, mean, variance, small, part, form, training):
    """The images, the running averages, the mean and variance that were used, and nothing."""
    wide, axes = x.astype(scale.dtype), others(x, form)
    running = mean, variance
    if training:
        mean, variance = np.mean(wide, axes), np.var(wide, axes)
        count = x.size // max(mean.size, 1)
        news = mean, variance * (count / max(count - 1, 1))
        mixed = [old * (1 - part) + new * part for old, new in zip(running, news) if part != 1]
        running = mixed or news
    vectors = mean, np.sqrt(variance + small), scale, offset
    centre, width, by, more = (channels(v, x, form) for v in vectors)
    y = (wide - centre) / width * by + more
    return y.astype(x.dtype), *running, mean, variance, np.zeros((), scale.dtype)
''',
    "batch_norm_grads": '''def batch_norm_grads(dy, x, scale, mean, spread, small, form, training):
    """To the images, the scale and the offset, and two times nothing."""
    axes, kind = others(x, form), x.dtype
    root = 1 / np.sqrt(spread + small)
    centre, by, factor = (channels(v, x, form) for v in (mean, root, scale * root))
    dy, unit = dy.astype(scale.dtype), (x.astype(scale.dtype) - centre) * by
    to_x, means = dy, {"axis": axes, "keepdims": True}
    if training:
        to_x = dy - np.mean(dy, **means) - unit * np.mean(dy * unit, **means)
    none = np.zeros(0, scale.dtype)
    return (to_x * factor).astype(kind), np.sum(dy * unit, axes), np.sum(dy, axes), none, none
''',
    "broadcast_axes": "def broadcast_axes(s0, s1):\n"
    "    result = np.broadcast_shapes(tuple(s0), tuple(s1))\n"
    "    padded = (None,) * (len(result) - len(s0)) + tuple(s0)\n"
    "    spread = [i for i, (a, b) in enumerate(zip(padded, result)) if a != b]\n"
    "    return np.array(spread, np.int32)\n",
    "softmax": "def softmax(x):\n    e = np.exp(x - np.max(x, -1, keepdims=True))\n"
    "    return e / np.sum(e, -1, keepdims=True)\n",
    "log_softmax": "def log_softmax(x):\n    x = x - np.max(x, -1, keepdims=True)\n"
    "    return x - np.log(np.sum(np.exp(x), -1, keepdims=True))\n",
    "differences": '''def differences(function, at, number, weights):
    """d(sum(function * weights)) / d(at[number]), by central differences in float64."""
    at = [x.astype(np.float64) if x.dtype.kind == "f" else x for x in at]
    found = np.zeros(at[number].shape)
    for place in np.ndindex(found.shape):
        here, step, ends = at[number][place], 1e-6 * max(1.0, abs(at[number][place])), []
        for sign in (1, -1):
            moved = at[number].copy()
            moved[place] = here + sign * step
            ends.append(np.sum(function(*at[:number], moved, *at[number + 1 :]) * weights))
        found[place] = (ends[0] - ends[1]) / (2 * step)
    return found
''',
}
# Other words for what would overflow where the kernel does not, or make fractions of whole numbers.
INSTEAD = {
    "Softmax": "softmax({0})",
    "LogSoftmax": "log_softmax({0})",
    "FloorDiv": "np.floor_divide({0}, {1})",
}
_NORM = (
    "batch_norm({0}, {1}, {2}, {3}, {4}, {epsilon!r}, {exponential_avg_factor!r}, "
    "{data_format!r}, {is_training})"
)
_NORM_BACK = (
    "batch_norm_grads({0}, {1}, {2}, {3}, {4}, {epsilon!r}, {data_format!r}, {is_training})"
)
# What gives all outputs of an operation; {0}, {1}… are inputs, {name} an attribute's value.
WHOLE = {
    "Split": "np.split({1}, {num_split}, int({0}))",
    "SplitV": "pieces({0}, {1}, {2})",
    "Unpack": "np.moveaxis({0}, {axis}, 0)",
    "FusedBatchNorm": f"{_NORM}[:5]",
    "FusedBatchNormV2": f"{_NORM}[:5]",
    "FusedBatchNormV3": _NORM,
    "FusedBatchNormGrad": _NORM_BACK,
    "FusedBatchNormGradV2": _NORM_BACK,
    "FusedBatchNormGradV3": _NORM_BACK,
}


def used_helpers(lines: Iterable[str]) -> Iterator[str]:
    """The sources of those that are called in these lines, and of what these call."""
    text, used = "\n".join(lines), dict[str, str]()
    while more := [name for name in HELPERS if name not in used and _calls(text, name)]:
        used |= {name: HELPERS[name] for name in more}
        text = "\n".join(used.values())
    return (f"\n{source}" for name, source in HELPERS.items() if name in used)


def _calls(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w.]){name}\(", text) is not None
