"""What is done to the rows of a column before they are fed: `scale(1/16)`, `one_hot(10)`.

`drawn_transforms.py` has those that each epoch draws anew."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gradstep.core.data.drawn_transforms import Crop, Drawn, Flip
from gradstep.core.data.literal_values import parse_expression, plain
from gradstep.core.data.row_numbers import RowNumbers
from gradstep.core.errors import USAGE, GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.graph.suggestions import instead

# Of rows [n, …]; of each row alone.
Transform = Callable[[np.ndarray], np.ndarray] | Drawn
_CHUNK, _CHUNK_BYTES = 1 << 16, 256 << 20  # rows that are looked at at once, at most


@dataclass(frozen=True)
class Scale:
    """rows * factor + offset, in float64."""

    factor: float
    offset: float = 0.0

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        return rows * np.float64(self.factor) + np.float64(self.offset)


@dataclass(frozen=True)
class Cast:
    """Numbers as another element type holds them: fractions cut off for whole numbers, as a Cast
    does it."""

    dtype: DType

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        if kind_of(rows.dtype) in "OSU":
            raise GradstepError(
                f"cast({self.dtype.value}) takes numbers, and the rows are texts",
                kind="ValueError",
                hint="classes('a', 'b') takes texts for numbers",
            )
        whole = rows.real if kind_of(rows.dtype) == "c" and not self.dtype.is_complex else rows
        with np.errstate(all="ignore"):
            return whole.astype(self.dtype.numpy)


@dataclass(frozen=True)
class OneHot:
    """Whole numbers from 0 to depth as rows of zeros with a single one."""

    depth: int

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        whole = rows if kind_of(rows.dtype) in "iu" else self._whole(rows)
        if whole.size and not (whole.min() >= 0 and whole.max() < self.depth):
            raise self._refused(rows, (whole < 0) | (whole >= self.depth))
        if whole.ndim > 1 and whole.shape[-1] == 1:  # a column of a table
            whole = whole[..., 0]
        made = np.zeros((whole.size, self.depth), np.float32)
        made[np.arange(whole.size), whole.reshape(-1)] = 1
        return made.reshape(*whole.shape, self.depth)

    def _whole(self, rows: np.ndarray) -> np.ndarray:
        """Fractions as whole numbers, which they have to be."""
        if kind_of(rows.dtype) not in "fb":
            raise self._refused(rows, np.ones(rows.shape, bool))
        with np.errstate(invalid="ignore"):
            whole = rows.astype(np.int64)
        if not np.array_equal(whole, rows):
            raise self._refused(rows, whole != rows)
        return whole

    def _refused(self, rows: np.ndarray, wrong: np.ndarray) -> GradstepError:
        value = rows[tuple(np.argwhere(wrong)[0])]
        return GradstepError(
            f"{value} is no class of one_hot({self.depth})",
            kind="ValueError",
            hint=f"classes are 0 to {self.depth - 1}",
        )


@dataclass(frozen=True)
class Classes:
    """Texts as their places among `names`, from 0: int64."""

    names: tuple[str, ...]

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        places = {name: place for place, name in enumerate(self.names)}
        try:
            found = [places[_decoded(cell)] for cell in rows.reshape(-1)]
        except KeyError as error:
            raise GradstepError(
                f"{error.args[0]!r} is none of the classes",
                kind="ValueError",
                hint=instead(error.args[0], self.names) or f"they are {', '.join(self.names)}",
            ) from None
        return np.array(found, np.int64).reshape(rows.shape)


def _decoded(cell: object) -> str:
    return cell.decode(errors="replace") if isinstance(cell, bytes) else str(cell)


@dataclass(frozen=True, eq=False)
class Standardise:
    """(rows - mean) / deviation, number by number; what never varies becomes 0. The two are of the
    rows that are trained on."""

    mean: np.ndarray
    deviation: np.ndarray

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray((rows - self.mean) / self.deviation)


def standardise(array: np.ndarray, chosen: RowNumbers, before: Sequence[Transform]) -> Standardise:
    """As `chosen` rows of `array` are, after other transforms, in parts: the array may be larger
    than memory. Sums are of float64, from the first row's values, which keeps them small."""
    first = apply(array[chosen[:1]], before).astype(np.float64)[0]
    total, squares = np.zeros_like(first), np.zeros_like(first)
    chunk = max(1, min(_CHUNK, _CHUNK_BYTES // max(1, array[:1].nbytes)))
    for start in range(0, len(chosen), chunk):
        part = apply(array[chosen[start : start + chunk]], before) - first
        total += part.sum(axis=0)
        squares += np.square(part).sum(axis=0)
    mean = total / len(chosen)
    deviation = np.sqrt(np.maximum(squares / len(chosen) - np.square(mean), 0))
    return Standardise(mean + first, np.where(deviation == 0, 1, deviation))


def apply(
    rows: np.ndarray, transforms: Sequence[Transform], draws: np.ndarray | None = None
) -> np.ndarray:
    """One after the other. draws: of each row, as row_draws has them; None for none."""
    for transform in transforms:
        rows = transform(rows, draws) if isinstance(transform, Drawn) else transform(rows)
    return rows


STANDARDISE, CLASSES, CAST = "standardise", "classes", "cast"
# Name -> arguments, and how many of them have to be given.
_TAKES: Mapping[str, tuple[tuple[str, ...], int]] = {
    "scale": (("factor", "offset"), 1),
    "one_hot": (("depth",), 1),
    STANDARDISE: ((), 0),
    CLASSES: (("name", "…"), 1),
    CAST: (("dtype",), 1),
    "crop": (("height", "width", "padding"), 2),
    "flip": ((), 0),
}


def read_transform(text: str) -> Transform | str:
    """`scale(1/16)`, `one_hot(10)`; STANDARDISE itself, which has to see the rows. Raises
    GradstepError (UsageError)."""
    try:
        node = parse_expression(text.strip())
    except ValueError:
        node = ast.Constant(None)
    call = node if isinstance(node, ast.Call) else ast.Call(node, [], [])
    name = call.func.id if isinstance(call.func, ast.Name) else text.strip()
    if name not in _TAKES:
        raise _wrong(f"there is no transform '{name}'", instead(name, _TAKES))
    if name == CLASSES:
        return Classes(_names(call))
    if name == CAST:
        return _cast(call)
    return _MADE[name](_numbers(call, name))


def _numbers(call: ast.Call, name: str) -> list[float]:
    takes, least = _TAKES[name]
    words = f"write {name}({', '.join(takes)})"
    try:
        given = [_number(arg) for arg in call.args]
    except (ValueError, ZeroDivisionError, OverflowError):
        raise _wrong(f"an argument of {name} is no number", words) from None
    if call.keywords or not least <= len(given) <= len(takes):
        raise _wrong(f"{name} was given other arguments than it takes", words)
    return given


def _names(call: ast.Call) -> tuple[str, ...]:
    """Names of classes, in quotes or without."""
    found = [arg.id if isinstance(arg, ast.Name) else _constant(arg) for arg in call.args]
    if not found or None in found or call.keywords or len({*found}) < len(found):
        raise _wrong("classes was given other arguments than it takes", "write classes('a', 'b')")
    return tuple(str(name) for name in found)


def _cast(call: ast.Call) -> Cast:
    """Of the name of an element type, in quotes or without."""
    names = [arg.id if isinstance(arg, ast.Name) else _constant(arg) for arg in call.args]
    known = {dtype.value: dtype for dtype in DType if dtype.is_castable}
    name = str(names[0]) if len(names) == 1 and not call.keywords else ""
    if name not in known:
        wrong = f"there is no element type '{name}'" if name else "cast takes one element type"
        raise _wrong(wrong, (name and instead(name, known)) or "write cast(float32)")
    return Cast(known[name])


def _constant(node: ast.expr) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def _number(node: ast.expr) -> float:
    """A number, or one divided by another. Raises ValueError, ZeroDivisionError."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return _number(node.left) / _number(node.right)
    value = plain(node)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("no number")
    return value


def _scale(numbers: Sequence[float]) -> Scale:
    if not numbers[0]:
        raise _wrong("scale(0) makes all rows alike", "write scale(1/255)")
    return Scale(*numbers)


def _one_hot(numbers: Sequence[float]) -> OneHot:
    return OneHot(_whole(numbers[0], 1, "number of classes", "write one_hot(10)"))


def _crop(numbers: Sequence[float]) -> Crop:
    height, width = (_whole(n, 1, "size of an image", "write crop(28, 28)") for n in numbers[:2])
    padding = (_whole(n, 0, "number of zeros", "write crop(28, 28, 2)") for n in numbers[2:])
    return Crop(height, width, *padding)


def _whole(number: float, least: int, what: str, hint: str) -> int:
    if not math.isfinite(number) or number != int(number) or not least <= number <= 1 << 20:
        raise _wrong(f"{number:g} is no {what}", hint)
    return int(number)


_MADE: Mapping[str, Callable[[list[float]], Transform | str]] = {
    "scale": _scale,
    "one_hot": _one_hot,
    STANDARDISE: lambda numbers: STANDARDISE,
    "crop": _crop,
    "flip": lambda numbers: Flip(),
}


def _wrong(message: str, hint: str) -> GradstepError:
    return GradstepError(message, kind=USAGE, hint=hint)
