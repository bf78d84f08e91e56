"""The rules by which networks that were carried from one framework to another are other there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from gradstep.core.checks.alignment.equal_numbers import as_arranged, distance, sorted_numbers
from gradstep.core.checks.alignment.stretches import Parting, Stretch
from gradstep.core.checks.alignment.window_padding import window_paddings
from gradstep.core.graph.model import Operation

_LARGEST_EPSILON = 0.05
_LARGEST_COUNT = 800  # of what a variance is over: of more, rounding hides what n is
_ALIKE = 1e-3  # of constants and ratios
_NO_RULE = frozenset({
    "T", "dtype", "Tidx", "Tparams", "data_format", "padding", "explicit_paddings", "strides",
    "dilations", "ksize", "transpose_a", "transpose_b", "adj_x", "adj_y", "equation", "epsilon",
    "keep_dims", "shape", "value", "U", "is_training", "exponential_avg_factor",
})  # fmt: skip


def find_rules(parting: Parting) -> list[str]:
    """Sentences, the surest first; none where nothing is recognised."""
    return list(dict.fromkeys(said for rule in _RULES for said in rule(parting)))


def _order(parting: Parting) -> Iterator[str]:
    if parting.in_another_order:
        yield (
            f"order of numbers: {parting.in_another_order} holds them in an order that no order of "
            "axes makes: a reshape where a transpose belongs"
        )


def _gates(parting: Parting) -> Iterator[str]:
    for name, order in parting.gates:
        yield f"order of gates: {name} of OTHER holds FILE's blocks {', '.join(map(str, order))}"


def _transposed(parting: Parting) -> Iterator[str]:
    for weight in parting.left.weights:
        matrix = parting.left.run.weights[weight]
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            continue
        if weight in parting.left.unmet:
            continue
        for rows in _rows(parting.left, len(matrix)):
            made = [sorted_numbers(rows @ m) for m in (matrix, matrix.T)]
            ends = [sorted_numbers(one) for one in parting.ends]
            near = [[distance(a, b) < parting.tolerance for b in made] for a in ends]
            if near in ([[True, False], [False, True]], [[False, True], [True, False]]):
                yield f"transposed weight: OTHER multiplies by the transpose of {weight.op}"


def _epsilon(parting: Parting) -> Iterator[str]:
    ours, theirs = _epsilons(parting.left), _epsilons(parting.right)
    if ours and theirs and not any(_alike(a, b) for a in ours for b in theirs):
        yield f"epsilon: {ours[0]:g} in FILE, {theirs[0]:g} in OTHER"
    elif bool(ours) != bool(theirs) and all(map(_has_root, (parting.left, parting.right))):
        yield f"epsilon: {(ours or theirs)[0]:g} in {_side(bool(ours))} alone"


def _variance(parting: Parting) -> Iterator[str]:
    ratio = _ratio(parting)
    if (
        ratio is None
        or parting.ends[0].size == 1
        or not {*_types(parting.left), *_types(parting.right)} & _SQUARING
    ):
        return
    for power in (1, 2, -2):  # the variance, a deviation, and what is divided by one
        over = ratio**power
        larger = max(over, 1 / over)
        count = larger / (larger - 1)
        if 2.5 < count < _LARGEST_COUNT and abs(count - round(count)) < 4e-7 * count**2 + 1e-4:
            unbiased = _side(over > 1)
            yield f"variance: {unbiased} divides by n - 1, the other by n = {round(count)}"
            return


def _gelu(parting: Parting) -> Iterator[str]:
    exact = [bool(_types(side) & {"Erf", "Erfc"}) for side in (parting.left, parting.right)]
    tanh = ["Tanh" in _types(side) for side in (parting.left, parting.right)]
    if exact[0] != exact[1] and tanh == exact[::-1]:
        yield f"GELU: exact (erf) in {_side(exact[0])}, by tanh in {_side(tanh[0])}"


def _padding(parting: Parting) -> Iterator[str]:
    ours, theirs = (window_paddings(side) for side in (parting.left, parting.right))
    for mine, other in zip(ours, theirs, strict=False):
        if mine.edges != other.edges:
            yield f"padding: {mine} in FILE, {other} in OTHER"
        for what in ("strides", "dilations"):
            a, b = getattr(mine, what), getattr(other, what)
            if a != b:
                yield f"{what} of {mine.name}: {list(a)} in FILE, {list(b)} in OTHER"


def _weights(parting: Parting) -> Iterator[str]:
    left, right = list(parting.left.unmet), list(parting.right.unmet)
    for a in [*left]:
        size = parting.left.run.weights[a].size
        b = next((b for b in right if parting.right.run.weights[b].size == size), None)
        if b is not None:
            left.remove(a)
            right.remove(b)
            yield f"weights: {a.op} of FILE and {b.op} of OTHER are other numbers"
    sides = (("FILE", left, parting.left), ("OTHER", right, parting.right))
    for side, rest, stretch in sides:
        for ref in filter(stretch.alone.__contains__, rest):  # others are met before the stretch
            yield f"missing weight: {ref.op} has no counterpart; {side} alone has it"


def _attributes(parting: Parting) -> Iterator[str]:
    for a in parting.left.operations:
        others = [b for b in parting.right.operations if b.type == a.type]
        if len(others) == 1 == sum(op.type == a.type for op in parting.left.operations):
            yield from _other_attributes(a, others[0])


def _other_attributes(a: Operation, b: Operation) -> Iterator[str]:
    for name in sorted({*a.attrs} & {*b.attrs} - _NO_RULE):
        if not name.startswith("_") and a.attrs[name] != b.attrs[name]:
            yield f"{name} of {a.type}: {a.attrs[name]} in FILE, {b.attrs[name]} in OTHER"


def _scale(parting: Parting) -> Iterator[str]:
    ratio = _ratio(parting)
    if ratio is not None and not any(_variance(parting)):
        yield f"scale: FILE's numbers are {ratio:.6g} times OTHER's, such as a sum for a mean"


def _activation(parting: Parting) -> Iterator[str]:
    ours, theirs = _types(parting.left) & _BENDS, _types(parting.right) & _BENDS
    if ours != theirs and not any(_gelu(parting)):
        said = [" and ".join(sorted(one)) or "none" for one in (ours, theirs)]
        yield f"activation: {said[0]} in FILE, {said[1]} in OTHER"


_SQUARING = {"Square", "SquaredDifference", "Mul", "Sum", "Mean", "RealDiv", "Sqrt", "Rsqrt", "Pow"}
_ROOTS = {"Sqrt", "Rsqrt", "Pow", "FusedBatchNorm", "FusedBatchNormV3"}
_BENDS = {"Relu", "Relu6", "LeakyRelu", "Elu", "Selu", "Softplus", "Sigmoid", "Tanh", "Softsign"}
_RULES: Sequence[Callable[[Parting], Iterator[str]]] = (
    _order, _gates, _weights, _transposed, _padding, _gelu, _activation, _variance, _epsilon,
    _attributes, _scale,
)  # fmt: skip


def _rows(stretch: Stretch, width: int) -> Iterator[np.ndarray]:
    """What the stretch reads and computes, as rows of so many numbers."""
    read = (ref for op in stretch.operations for ref in op.inputs if ref in stretch.values)
    for ref in dict.fromkeys(read):
        value = stretch.values[ref]  # type: ignore[index]
        if value.ndim and value.shape[-1] == width:
            yield np.asarray(value, np.float64).reshape(-1, width)


def _epsilons(stretch: Stretch) -> list[float]:
    """Small numbers that are added, or that a normalization has as its own."""
    found = list[float]()
    for op in stretch.with_surroundings:
        if "epsilon" in op.attrs:
            found.append(float(op.attrs["epsilon"]))
        if op.type in ("Add", "AddV2", "Maximum"):
            read = (stretch.run.graph[ref.op] for ref in op.inputs if ref is not None)
            arrays = [one.attrs["value"].array for one in read if one.type == "Const"]
            found += [float(a.flat[0]) for a in arrays if a.size == 1 and a.dtype.kind == "f"]
    return [one for one in dict.fromkeys(found) if 0 < one < _LARGEST_EPSILON]


def _ratio(parting: Parting) -> float | None:
    """By what all numbers of FILE are larger than OTHER's; None where that is not one number."""
    left, right = parting.ends
    turned = as_arranged(np.asarray(left, np.float64), np.asarray(right, np.float64))
    if turned is None or not np.any(right):
        return None
    ratio = float(np.vdot(turned, right) / np.vdot(right, right))
    if left.size == 1:  # any two numbers have a ratio
        whole = max(ratio, 1 / ratio) if ratio > 0 else 0.0
        return ratio if whole > 1.5 and abs(whole - round(whole)) < _ALIKE else None
    same = distance(turned, ratio * np.asarray(right, np.float64)) <= parting.tolerance
    return ratio if same and ratio > 0 and not _alike(ratio, 1.0) else None


def _has_root(stretch: Stretch) -> bool:
    """Whether it normalizes."""
    return bool(_types(stretch) & _ROOTS)


def _types(stretch: Stretch) -> set[str]:
    return {op.type for op in stretch.operations}


def _alike(a: float, b: float) -> bool:
    return abs(a - b) <= _ALIKE * max(abs(a), abs(b))


def _side(is_file: bool) -> str:
    return "FILE" if is_file else "OTHER"
