"""Whatever stands in the place of a value: numbers, a paste, a generator or a file.

`read_value` is for who converts it (a feed, as TensorFlow does it), `typed_value` for who keeps it.
"""

from __future__ import annotations

import ast
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np

from gradstep.core.data.array_files import Reading, read_array
from gradstep.core.data.data_stamp import names_files
from gradstep.core.data.file_owner import file_owner
from gradstep.core.data.generator_calls import generate, generator_name
from gradstep.core.data.generators import GENERATORS
from gradstep.core.data.literal_values import LONGEST, parse_expression, read_literal
from gradstep.core.data.tables import TableRules, read_table
from gradstep.core.data.transforms import Transform, read_transform, standardise
from gradstep.core.errors import USAGE, GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.graph.suggestions import near
from gradstep.core.ops.build.constant_cast import convert_constant

HINT = (
    "write numbers, nan, inf, true, lists in brackets, a generator such as normal(0, 0.1), "
    "@FILE.npy or @FOLDER/*.png"
)
_OF_ROWS = tuple("[-+.0123456789")  # what lists and numbers begin with, and no call does
_SHOWN = 60  # characters of what is no value
_NUMBERS = re.compile(r"[-+\d.,;\seEinfa]+")
_FIRST = re.compile(r"\s*(@|[a-z_]+)")
_ROWS = re.compile(rf"[^\s,;]+[\s,;]{_NUMBERS.pattern}")  # of numbers, with anything between them


class RowsMisfitError(GradstepError):
    """A value of which only the number of rows is another than declared."""


def is_quick(text: str) -> bool:
    """Whether a value is read, or refused, from its text alone, at once: no file, nothing to
    generate."""
    start = _FIRST.match(text)
    is_far = start is not None and (start[1] == "@" or start[1] in GENERATORS)
    return len(text) < LONGEST // 64 and not is_far


def is_generated(text: str) -> bool:
    """Whether it is the call of a generator."""
    return _generator_call(text.strip(" \r\n")) is not None


def read_value(text: str, kind: TensorType, name: str, reading: Reading) -> Any:
    """A number, text, nested list of these, or an array, for what is called `name`. A table takes
    the shape of `kind` where its rows have as many cells as that has; a generator makes what
    `kind` says. Raises GradstepError: UsageError for what is no value, and what files give."""
    text = text.strip(" \r\n")  # an empty cell at the end is one
    if not text.strip():
        raise GradstepError("there is no value", kind=USAGE, hint=HINT)
    if text.startswith("@"):
        return _from_file(text[1:], kind, reading)
    reading = replace(reading, dtype=_cell_type(kind.dtype), shape=kind.shape)
    call = _generator_call(text)
    if call is not None:
        return generate(call, kind, name, reading.budget)
    if kind.shape.rank == 2 and _ROWS.fullmatch(text):  # one row of them as well
        return shape_table(_pasted_table(text, reading), kind.shape)
    try:
        value = read_literal(text)
    except ValueError:
        return shape_table(_pasted_table(text, reading), kind.shape)
    if isinstance(value, list):
        _as_wide(value)  # said here: who feeds it has NumPy's words for it
    return value


def typed_value(text: str, kind: TensorType, name: str, reading: Reading) -> np.ndarray:
    """The same as an array of exactly `kind`'s element type, and a shape that it accepts; a number
    alone is that for every element, where the shape is known. Raises GradstepError."""

    def check(shape: tuple[int, ...]) -> None:
        if math.prod(shape) != 1:
            _require_shape(shape, kind.shape)

    return fit_value(read_value(text, kind, name, replace(reading, check=check)), kind)


def fit_value(value: Any, kind: TensorType) -> np.ndarray:
    """`value` (numbers, lists, an array) as an array of exactly `kind`. Raises GradstepError."""
    array = _converted(value, kind.dtype)
    if not array.ndim and kind.shape.is_static:
        array = np.full(kind.shape.static(), array)
    _require_shape(array.shape, kind.shape)
    return array


def as_array(value: Any, dtype: DType) -> np.ndarray:
    """`value` (numbers, lists, an array) as an array as wide as it is written; of whole numbers
    beyond 64 bits as wide as `dtype` has. Raises GradstepError."""
    if isinstance(value, np.ndarray):
        return value
    wide = _as_wide(value)
    is_beyond = kind_of(wide.dtype) == "O" and dtype is not DType.STRING
    return _beyond(value, dtype) if is_beyond else wide


def _as_wide(value: Any) -> np.ndarray:
    try:
        return np.array(value)
    except ValueError:
        raise GradstepError(
            "the rows differ in length", kind="ValueError", hint="give them the same length"
        ) from None


def shape_table(cells: np.ndarray, shape: Shape) -> np.ndarray:
    """Cells [rows, columns] in the rank of `shape`: a vector from one row or column, rows of
    [8, 8, 1] from 64 columns; as they are where that is not possible."""
    rows, columns = cells.shape
    if shape.rank is None:
        return cells[:, 0] if columns == 1 else cells
    if shape.rank == 0:
        return cells.reshape(()) if cells.size == 1 else cells
    if shape.rank == 1:
        return cells.reshape(-1) if 1 in (rows, columns) else cells
    return shape_rows(cells, shape)


def shape_rows(rows: np.ndarray, shape: Shape) -> np.ndarray:
    """Rows [n, …] in the rank of `shape`, where its other sizes hold as many numbers as a row."""
    inner = (shape.dims or ())[1:]
    if not shape.dims or None in inner or rows.ndim == 0:
        return rows
    sizes = tuple(d or 0 for d in inner)
    fits = math.prod(sizes) == math.prod(rows.shape[1:])
    return rows.reshape(len(rows), *sizes) if fits else rows


def _from_file(text: str, kind: TensorType, reading: Reading) -> np.ndarray:
    """`FILE`, or `FILE | scale(1/255)`: what is done to its numbers, one after the other."""
    whole = (reading.folder / text).exists()
    place, *steps = (text,) if whole else text.split("|")
    transforms = [read_transform(step) for step in steps]
    if transforms:  # which may give it the shape that it lacks
        reading = replace(reading, check=lambda _: None)
    array, is_table = _read_or_borrowed(place.strip(), kind, reading)
    if transforms:
        reading.budget.take(8 * array.size, "its numbers as they are transformed")
        array = _transformed(array, transforms)
        is_table = is_table and array.ndim == 2
    return shape_table(array, kind.shape) if is_table else array


def _read_or_borrowed(place: str, kind: TensorType, reading: Reading) -> tuple[np.ndarray, bool]:
    owner = file_owner() if names_files(f"@{place}") else None
    return read_file(place, kind, reading) if owner is None else owner.value(f"@{place}", kind)


def read_file(place: str, kind: TensorType, reading: Reading) -> tuple[np.ndarray, bool]:
    """The array that a value names, as what takes `kind` has it, and whether it is a table. Raises
    GradstepError."""
    return read_array(place, replace(reading, dtype=_cell_type(kind.dtype), shape=kind.shape))


def _transformed(array: np.ndarray, transforms: list[Transform | str]) -> np.ndarray:
    for transform in transforms:
        if isinstance(transform, str):  # by mean and deviation of all of its rows
            transform = standardise(array, np.arange(len(np.atleast_1d(array))), ())
        array = transform(array)
    return array


def _generator_call(text: str) -> ast.Call | None:
    if text.startswith(_OF_ROWS):
        return None
    try:
        node = parse_expression(text)
    except ValueError:
        return None
    if isinstance(node, ast.Name) and node.id in GENERATORS:  # zeros, for zeros()
        node = ast.Call(node, [], [])
    name = generator_name(node)
    known = name in GENERATORS or (name and near(name, GENERATORS, most=1))
    return node if known and isinstance(node, ast.Call) else None


def _pasted_table(text: str, reading: Reading) -> np.ndarray:
    """Rows of cells, as spreadsheets copy them. Raises GradstepError."""
    if "\n" not in text and "\t" not in text and not _NUMBERS.fullmatch(text):
        raise _no_value(text)
    if text[0] in "[(":
        raise _no_value(text)
    rules = TableRules(dtype=reading.dtype, allow_nan=reading.allow_nan)
    return read_table(text, rules, reading.budget)


def _cell_type(dtype: DType) -> np.dtype:
    """What cells are read as: whole numbers exactly, all others as wide as there are."""
    if dtype is DType.STRING:
        return np.dtype(object)
    if dtype.is_complex:
        return np.dtype(np.complex128)
    return np.dtype(np.int64 if dtype.is_integer and dtype is not DType.UINT64 else np.float64)


def _converted(value: Any, dtype: DType) -> np.ndarray:
    wide = as_array(value, dtype)
    if dtype is DType.STRING:
        return _texts(wide)
    if kind_of(wide.dtype) in "SU":  # Python's own texts
        wide = wide.astype(object)
    try:
        return convert_constant(wide, dtype)
    except TypeError as error:
        raise GradstepError(str(error), kind="ValueError", hint="save it as float32") from None


def _texts(wide: np.ndarray) -> np.ndarray:
    """Texts as objects. Raises GradstepError for numbers."""
    if kind_of(wide.dtype) in "OSU":
        return wide.astype(object)
    raise GradstepError(
        f"string cannot hold {wide.dtype.name}", kind="ValueError", hint="write texts in quotes"
    )


def _beyond(value: Any, dtype: DType) -> np.ndarray:
    try:
        return np.array(value, np.float64 if dtype.is_floating else dtype.numpy)
    except (OverflowError, ValueError, TypeError):
        raise GradstepError(
            f"a number is out of range for {dtype.value}",
            kind="ValueError",
            hint="write a smaller one",
        ) from None


def _require_shape(shape: tuple[int, ...], declared: Shape) -> None:
    if not declared.accepts(shape):
        kind = RowsMisfitError if declared.lacks_rows_only(shape) else GradstepError
        raise kind(
            f"shape {Shape(shape)} does not fit {declared}",
            kind="ValueError",
            hint="reshape the value, or change the shape of the node",
        )


def _no_value(text: str) -> GradstepError:
    shown = " ".join(text[: _SHOWN + 1].split())
    cut = shown if len(text) < _SHOWN else shown[:_SHOWN] + "…"
    return GradstepError(f"'{cut}' is not a value", kind=USAGE, hint=HINT)
