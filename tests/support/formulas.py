"""The names that a formula in the op table may use: NumPy's functions, and these few."""

from __future__ import annotations

import math
import statistics
from typing import Any

import numpy as np

from tests.support import (
    array_formulas,
    image_formulas,
    philox,
    sliding_formulas,
    special_formulas,
    state_formulas,
    summary_messages,
)


def axes(a: Any) -> tuple[int, ...]:
    """Axes as NumPy's reductions take them."""
    return tuple(np.ravel(a).tolist())


def add_all(values: list[Any]) -> Any:
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


def astype(x: Any, dtype: str) -> Any:
    """Of complex numbers, the real part becomes a real number."""
    data = np.asarray(x)
    return (data if np.dtype(dtype).kind == "c" else data.real).astype(dtype)


def between(t: Any, low: Any, high: Any) -> Any:
    if not np.iscomplexobj(t):
        return np.maximum(np.minimum(t, high), low)
    real, imag = (between(*[f(x) for x in (t, low, high)]) for f in (np.real, np.imag))
    return real + 1j * imag


def bits_as(x: Any, dtype: str) -> Any:
    """The bytes of `x` read as another element type, from the last axis on."""
    data, size = np.asarray(x), np.dtype(dtype).itemsize
    if data.itemsize < size:
        shape = data.shape[:-1]
    else:
        shape = data.shape + ((data.itemsize // size,) if data.itemsize > size else ())
    return np.frombuffer(data.tobytes(), dtype).reshape(shape)


def rows(condition: Any, t: Any) -> Any:
    """A vector of flags lined up with the rows of `t`."""
    condition = np.asarray(condition)
    if condition.ndim == 1 and t.ndim > 1:
        return condition.reshape(-1, *[1] * (t.ndim - 1))
    return condition


def channels(bias: Any, value: Any, data_format: str) -> Any:
    return bias.reshape(-1, *[1] * (value.ndim - 2)) if data_format == "NCHW" else bias


def others(x: Any, data_format: str) -> tuple[int, ...]:
    """All axes but the channels."""
    channel = 1 if data_format == "NCHW" else x.ndim - 1
    return tuple(i for i in range(x.ndim) if i != channel)


def adjoint_if(wanted: bool, x: Any) -> Any:
    """Rows and columns exchanged and conjugated, if wanted."""
    return np.conj(np.swapaxes(x, -1, -2)) if wanted else x


def cholesky_gradient(factor: Any, g: Any) -> Any:
    """Giles, 2008: l⁻ᵀ (lᵀ g, its lower triangle, the diagonal halved) l⁻¹, made symmetric."""
    middle = np.tril(np.swapaxes(factor, -1, -2) @ g)
    middle = middle * (1 - 0.5 * np.eye(factor.shape[-1]))
    inverse = np.linalg.inv(factor)
    raw = np.swapaxes(inverse, -1, -2) @ middle @ inverse
    return (raw + np.swapaxes(raw, -1, -2)) / 2


def banded(x: Any, lower: Any, upper: Any) -> Any:
    kept = x if lower < 0 else np.triu(x, -int(lower))
    return kept if upper < 0 else np.tril(kept, int(upper))


def longest_diagonal(rows: int, columns: int, k: Any) -> int:
    """The length of the longest of the diagonals k."""
    numbers = range(int(np.ravel(k)[0]), int(np.ravel(k)[-1]) + 1)
    return max(len(np.diagonal(np.empty((rows, columns)), d)) for d in numbers)


def diagonal_elements(rows: int, columns: int, k: Any, align: str) -> Any:
    """(which diagonal, where in its row), (row, column) of each element of the diagonals k."""
    longest = longest_diagonal(rows, columns, k)
    for i, d in enumerate(range(int(np.ravel(k)[-1]), int(np.ravel(k)[0]) - 1, -1)):
        length = len(np.diagonal(np.empty((rows, columns)), d))
        right = align.split("_")[0 if d > 0 else 1] == "RIGHT"
        for j in range(length):
            yield (i, j + right * (longest - length)), (max(j, j - d), max(j, j + d))


def tensor_diagonal(x: Any) -> Any:
    """The elements where both halves of the index are equal."""
    half = x.shape[: x.ndim // 2]
    return np.array([x[place + place] for place in np.ndindex(half)]).reshape(half)


def diagonals_of(x: Any, k: Any, padding: Any, align: str) -> Any:
    rows, columns = x.shape[-2:]
    count = int(np.ravel(k)[-1]) - int(np.ravel(k)[0]) + 1
    found = np.full((*x.shape[:-2], count, longest_diagonal(rows, columns, k)), padding, x.dtype)
    for given, place in diagonal_elements(rows, columns, k, align):
        found[(..., *given)] = x[(..., *place)]
    return found if count > 1 else found[..., 0, :]


def with_diagonals(x: Any, diagonal: Any, k: Any, align: str) -> Any:
    given_rows = diagonal if np.ravel(k)[0] != np.ravel(k)[-1] else diagonal[..., None, :]
    changed = x.copy()
    for given, place in diagonal_elements(*x.shape[-2:], k, align):
        changed[(..., *place)] = given_rows[(..., *given)]
    return changed


def matrix_of(diagonal: Any, k: Any, rows: Any, columns: Any, padding: Any, align: str) -> Any:
    """In the smallest matrix, of the given number of rows and columns, that they fill."""
    batch = diagonal.shape[: -1 if np.ravel(k)[0] == np.ravel(k)[-1] else -2]
    sizes = [(m, n) for m in range(9) for n in range(9) if rows in (-1, m) and columns in (-1, n)]
    if rows == columns == -1:
        sizes = [(n, n) for n in range(9)]
    length = diagonal.shape[-1]
    size = next(s for s in sizes if min(s) and longest_diagonal(*s, k) == length)
    return with_diagonals(np.full((*batch, *size), padding, diagonal.dtype), diagonal, k, align)


def summed_by_labels(equation: str, operands: list[Any]) -> Any:
    """NumPy's einsum, which knows no label twice on the right: the result is spread first."""
    left, right = equation.split("->")
    once = "".join(dict.fromkeys(right)) if "..." not in right else right
    result = np.einsum(f"{left}->{once}", *operands)
    if once == right:
        return result
    sizes = dict(zip(once, result.shape, strict=True))
    spread = np.zeros([sizes[label] for label in right])
    for place in np.ndindex(result.shape):
        at = dict(zip(once, place, strict=True))
        spread[tuple(at[label] for label in right)] = result[place]
    return spread


def running(cumulate: Any, x: Any, axis: Any, exclusive: bool, reverse: bool, neutral: int) -> Any:
    def along(row: Any) -> Any:
        row = row[::-1] if reverse else row
        row = np.concatenate([[neutral], row[:-1]]) if exclusive else row
        return cumulate(row)[::-1] if reverse else cumulate(row)

    return np.apply_along_axis(along, int(axis), x)


def gather(params: Any, indices: Any, axis: Any, batch_dims: int) -> Any:
    if batch_dims:
        pairs = zip(params, indices, strict=True)
        return np.stack([gather(p, i, axis - 1, batch_dims - 1) for p, i in pairs])
    return np.take(params, indices, axis=int(axis))


def rows_of(indices: Any) -> tuple[Any, ...]:
    """Vectors along the last axis, as NumPy's fancy index takes them."""
    return tuple(np.moveaxis(indices, -1, 0))


def scatter(indices: Any, updates: Any, shape: Any) -> Any:
    total = np.zeros(shape, updates.dtype)
    for place in np.ndindex(indices.shape[:-1]):
        total[tuple(indices[place])] += updates[place]
    return total


def segment_sum(data: Any, ids: Any, count: Any) -> Any:
    total = np.zeros((int(count), *data.shape[ids.ndim :]), data.dtype)
    for place in np.ndindex(ids.shape):
        if ids[place] >= 0:
            total[ids[place]] += data[place]
    return total


def one_hot(indices: Any, depth: Any, axis: int) -> Any:
    hit = np.asarray(indices)[..., None] == np.arange(depth)
    return np.moveaxis(hit, -1, axis)


def box(x: Any, begin: Any, size: Any) -> Any:
    pairs = zip(begin.tolist(), size.tolist(), strict=True)
    return x[tuple(slice(b, None if s == -1 else b + s) for b, s in pairs)]


def slices(x: Any, begin: Any, end: Any, strides: Any, masks: dict[str, int]) -> tuple[Any, ...]:
    """Python's index for a strided slice; the negative begin of one element counts from the end."""
    index: list[Any] = []
    for i, (b, e, s) in enumerate(zip(begin.tolist(), end.tolist(), strides.tolist(), strict=True)):
        has = {name.removesuffix("_mask") for name, mask in masks.items() if mask >> i & 1}
        if "ellipsis" in has:
            index.append(Ellipsis)
        elif "new_axis" in has:
            index.append(None)
        elif "shrink_axis" in has:
            index.append(b)
        else:
            index.append(slice(None if "begin" in has else b, None if "end" in has else e, s))
    return tuple(index)


def slices_back(shape: Any, begin: Any, end: Any, strides: Any, masks: Any, dy: Any) -> Any:
    total = np.zeros(shape, dy.dtype)
    total[slices(total, begin, end, strides, masks)] = dy
    return total


def broadcast_axes(s0: Any, s1: Any) -> Any:
    result = np.broadcast_shapes(tuple(s0), tuple(s1))
    padded = (None,) * (len(result) - len(s0)) + tuple(s0)
    return [i for i, (a, b) in enumerate(zip(padded, result, strict=True)) if a != b]


def adam_step(m: Any, beta1: Any, grad: Any, use_nesterov: bool) -> Any:
    new = beta1 * m + (1 - beta1) * grad
    return beta1 * new + (1 - beta1) * grad if use_nesterov else new


def nearby(x: Any, radius: int) -> Any:
    """Sums over the channels (the last axis) that are at most `radius` away."""
    channel = np.arange(x.shape[-1])
    return x @ (np.abs(channel[:, None] - channel) <= radius).astype(x.dtype)


def lined(vector: Any, x: Any, data_format: str) -> Any:
    """A vector of channels to broadcast against images."""
    return vector.reshape([-1 if i not in others_of(x, data_format) else 1 for i in range(x.ndim)])


def others_of(x: Any, data_format: str) -> tuple[int, ...]:
    """All axes but the channels, of images of any number of dimensions."""
    return tuple(i for i in range(x.ndim) if i != (1 if data_format[1] == "C" else x.ndim - 1))


def batch_norm(
    x: Any, scale: Any, offset: Any, mean: Any, var: Any, epsilon: float, form: str, training: bool
) -> Any:
    axes = others_of(x, form)
    if training:
        mean, var = np.mean(x, axes), np.var(x, axes)
    scale = scale / np.sqrt(var + np.float32(epsilon))
    return (x - lined(mean, x, form)) * lined(scale, x, form) + lined(offset, x, form)


def batch_norm_grad(
    g: Any, x: Any, scale: Any, mean: Any, var: Any, epsilon: float, form: str, training: bool
) -> Any:
    axes, spread = others_of(x, form), lined(var, x, form) + np.float32(epsilon)
    centred = x - lined(mean, x, form)
    if training:
        along = np.mean(g * centred, axes, keepdims=True)
        g = g - np.mean(g, axes, keepdims=True) - centred * along / spread
    return g * lined(scale, x, form) / np.sqrt(spread)


def quantized(low: float, high: float, num_bits: int, narrow_range: bool) -> Any:
    """The numbers that fake_quant rounds to: evenly spaced, one of them 0."""
    steps = 2**num_bits - 1 - narrow_range
    scale = (np.float32(high) - np.float32(low)) / np.float32(steps)
    zero = np.clip(np.round(-np.float32(low) / scale), 0, steps)
    return (np.arange(steps + 1) - float(zero)) * float(scale)


def fake_quant(x: Any, low: float, high: float, num_bits: int, narrow_range: bool) -> Any:
    numbers = quantized(low, high, num_bits, narrow_range)
    return numbers[np.argmin(np.abs(x[:, None] - numbers), axis=1)].astype(x.dtype)


def fake_quant_passes(x: Any, low: float, high: float, num_bits: int, narrow_range: bool) -> Any:
    numbers = quantized(low, high, num_bits, narrow_range)
    return (x >= numbers[0]) & (x <= numbers[-1])


def each(function: Any) -> Any:
    """A function of numbers as one of arrays."""
    return np.vectorize(function, otypes=[np.float64])


def _erfinv(y: float) -> float:
    return _NORMAL.inv_cdf((y + 1) / 2) / math.sqrt(2)


def _digamma(x: float) -> float:
    """Moved far to the right, where three terms of the series are enough."""
    if x < 0:
        return _digamma(1 - x) - math.pi / math.tan(math.pi * x)
    terms = math.fsum(1 / (x + k) for k in range(2000))
    y = x + 2000
    return math.log(y) - 1 / (2 * y) - 1 / (12 * y**2) - terms


def _zeta(x: float, q: float) -> float:
    """Hurwitz's zeta function: 2000 terms, and an integral for the rest."""
    y = q + 2000
    rest = y ** (1 - x) / (x - 1) + y**-x / 2 + x * y ** (-x - 1) / 12
    return math.fsum((q + k) ** -x for k in range(2000)) + rest


def _polygamma(a: float, x: float) -> float:
    if a == 0:
        return _digamma(x)
    return (-1) ** (a + 1) * math.factorial(int(a)) * _zeta(a + 1, x)


_NORMAL = statistics.NormalDist()
SPECIAL = {
    "digamma": each(_digamma),
    "erf": each(math.erf),
    "erfc": each(math.erfc),
    "erfinv": each(_erfinv),
    "lgamma": each(math.lgamma),
    "ndtri": each(_NORMAL.inv_cdf),
    "polygamma": each(_polygamma),
    "zeta": each(_zeta),
}

NAMES: dict[str, Any] = {
    **{name: getattr(np, name) for name in dir(np) if not name.startswith("_")},
    **array_formulas.NAMES,
    **image_formulas.NAMES,
    **sliding_formulas.NAMES,
    **philox.NAMES,
    **state_formulas.NAMES,
    **summary_messages.NAMES,
    **{name: f for name, f in list(globals().items()) if callable(f) and name.islower()},
    **SPECIAL,
    **special_formulas.NAMES,
}


def evaluate(formula: str, names: dict[str, Any]) -> Any:
    """The value of `formula`, where `names` are an op's inputs and attributes."""
    masks = {k: v for k, v in names.items() if k.endswith("_mask")}
    slide = {k: v for k, v in names.items() if k in sliding_formulas.ATTRIBUTES}
    known = {**NAMES, "masks": masks, "slide": slide, **names}
    return eval(formula, {"__builtins__": {}}, known)
