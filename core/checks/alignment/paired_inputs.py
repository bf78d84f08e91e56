"""What two networks are fed so that both get the same, each in its own order of axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gradstep.core.checks.alignment.equal_numbers import (
    are_arranged,
    as_arranged,
    orders_of_axes,
)
from gradstep.core.checks.alignment.network_run import PLACEHOLDERS, NetworkRun, Values, ends_of
from gradstep.core.document.placeholder_substitution import with_placeholders
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Operation
from gradstep.core.program.questions.loaded_document import Loaded

_ROWS = 2  # where a size may be any
_SEED = 19
_SAME = 1e-6  # apart, at most, is the same value fed in two orders of axes
Sizes = tuple[int | None, ...]


def paired_runs(file: Loaded, other: Loaded) -> tuple[NetworkRun, NetworkRun]:
    """Both, fed the same: FILE's feeds where it has them, or else OTHER's, or numbers that are
    drawn. Raises GradstepError where an input has no counterpart and no value."""
    left, right = file.feeds(), other.feeds()
    mine, theirs = _open_inputs(file, left), _open_inputs(other, right)
    for op in theirs:
        partner = _partner(op, mine, left, right)
        if partner is None:
            continue
        mine.remove(partner)
        a, b = partner.output(), op.output()
        if a not in left:
            left[a] = _in_sizes(right[b], partner) if b in right else _drawn(partner, op)
        right[b] = _like(left[a], right.get(b), op)
    for op in mine:
        left.setdefault(op.output(), _drawn(op, op))
    for op in theirs:
        right.setdefault(op.output(), _drawn(op, op))
    return NetworkRun(file, left), NetworkRun(other, right)


def _open_inputs(loaded: Loaded, feeds: Values) -> list[Operation]:
    """Placeholders that the ends need, and whatever else is fed."""
    document = with_placeholders(loaded.document)
    graph = document.graph
    needed = graph.ancestors([ref.op for ref in ends_of(document)])
    fed = {ref.op for ref in feeds}
    ops = (graph[name] for name in graph.order if name in needed)
    return [op for op in ops if op.type in PLACEHOLDERS or op.name in fed]


def _partner(
    op: Operation, others: Sequence[Operation], left: Values, right: Values
) -> Operation | None:
    """That of the same numbers, or else of the same name, or else the first that it may be."""
    fit = [one for one in others if _kind(one) == _kind(op) and any(_fits(one, op))]

    def rank(one: Operation) -> tuple[bool, bool]:
        a, b = left.get(one.output()), right.get(op.output())
        is_same = a is not None and b is not None and are_arranged(a, b, _SAME)
        return not is_same, _last(one) != _last(op)

    return min(fit, key=rank, default=None)


def _like(value: np.ndarray, own: np.ndarray | None, op: Operation) -> np.ndarray:
    """A value as `op` takes it: in the order of axes of what it was fed, or that fits."""
    turned = None if own is None else as_arranged(value, own)
    return _in_sizes(value, op) if turned is None else turned.astype(_dtype(op), order="C")


def _in_sizes(value: np.ndarray, op: Operation) -> np.ndarray:
    sizes = _sizes(op)
    found = value if sizes is None else next(_turned(value, sizes), None)
    if found is None:
        raise GradstepError(
            f"{op.name} takes {list(sizes or ())}, and its counterpart has {list(value.shape)}",
            kind="ValueError",
            node=op.name,
            hint="feed FILE a value that fits both",
        )
    return found.astype(_dtype(op), order="C")


def _turned(value: np.ndarray, sizes: Sizes) -> Iterator[np.ndarray]:
    if value.ndim == len(sizes):
        yield from (
            value.transpose(axes)
            for axes in orders_of_axes(value.ndim)
            if _agree(tuple(value.shape[i] for i in axes), sizes)
        )


def _drawn(op: Operation, other: Operation) -> np.ndarray:
    """Numbers for an input that nobody has a value for: normal ones, or 0 and 1."""
    sizes = _sizes(op) or _sizes(other)
    if sizes is None:
        raise GradstepError(
            f"{op.name} has no value, and no shape to draw one of",
            kind="ValueError",
            node=op.name,
            hint=f"--feed {op.name}=… says it",
        )
    orders = [
        one for one in orders_of_axes(len(sizes)) if _agree(sizes, _taken(_sizes(other), one))
    ]
    known = _taken(_sizes(other), orders[0]) if orders else sizes
    shape = [a or b or _ROWS for a, b in zip(sizes, known, strict=True)]
    draw = np.random.default_rng(_SEED)
    numbers = draw.standard_normal(shape) if _kind(op) == "f" else draw.integers(0, 2, shape)
    return np.asarray(numbers).astype(_dtype(op))


def _taken(sizes: Sizes | None, inverse: tuple[int, ...]) -> Sizes:
    """`sizes` in the order of which `inverse` is the way back; nothing known for none."""
    if sizes is None or len(sizes) != len(inverse):
        return (None,) * len(inverse)
    return tuple(sizes[inverse.index(i)] for i in range(len(inverse)))


def _fits(one: Operation, other: Operation) -> Iterator[bool]:
    a, b = _sizes(one), _sizes(other)
    if a is None or b is None:
        yield True
    elif len(a) == len(b):
        yield from (_agree(tuple(a[i] for i in axes), b) for axes in orders_of_axes(len(a)))


def _agree(a: Sizes, b: Sizes) -> bool:
    return len(a) == len(b) and all(
        x is None or y is None or x == y for x, y in zip(a, b, strict=True)
    )


def _sizes(op: Operation) -> Sizes | None:
    shape = op.attrs.get("shape")
    return None if shape is None or shape.dims is None else tuple(shape.dims)


def _dtype(op: Operation) -> np.dtype:
    kind = op.attrs.get("dtype", DType.FLOAT32)
    return kind.numpy if isinstance(kind, DType) else np.dtype(np.float32)


def _kind(op: Operation) -> str:
    kind = _dtype(op).kind
    return {"V": "f", "u": "i"}.get(kind, kind)


def _last(op: Operation) -> str:
    """ "x" of serving_default_x and of net/x."""
    return op.name.rpartition("/")[2].removeprefix("serving_default_")
