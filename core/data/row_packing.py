"""Rows of files made part of the document: the very numbers that its columns would read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

import numpy as np

from gradstep.core.data.array_files import Reading
from gradstep.core.data.data_stamp import names_files
from gradstep.core.data.file_place import is_pattern, split_place
from gradstep.core.data.opened_data import column_place, read_column, read_rows
from gradstep.core.document.document import Document
from gradstep.core.document.packed_rows import Rows, free_name, with_packed_column
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, TensorType
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.io.disk.memory_budget import Budget, OverBudgetError


def pack_data(document: Document, kinds: Mapping[TensorRef, TensorType], reading: Reading
) -> Document:  # fmt: skip
    """`document` with the rows of all its files. kinds: what each column's tensor takes. Raises
    GradstepError, as `read_packable` does."""
    for ref, kind in kinds.items():
        if names_files(document.columns[str(ref)]):
            named = read_packable(document, ref, kind, reading)
            document = with_packed_column(document, str(ref), *named)
    return document


def read_packable(
    document: Document, ref: TensorRef, kind: TensorType, reading: Reading
) -> tuple[str, Constant]:
    """The rows of a column, and what they are to be called in the document. reading: its budget is
    what the document's file may take in all. Raises GradstepError: what files give,
    OverBudgetError, TypeError for numbers that no tensor holds."""
    place, steps = read_column(document.columns[str(ref)], ref)
    array = read_rows(column_place(place, steps, kind), kind.dtype, ref, reading)
    _take(Budget(reading.budget.limit), document.packed, array, ref)
    try:
        rows = Constant(as_tensor(array))
    except GradstepError as error:
        raise error.at(ref.op) from None
    return free_name(document.packed, _short_name(place), rows), rows


def _take(budget: Budget, packed: Rows, array: np.ndarray, ref: TensorRef) -> None:
    """Whether the file can be opened afterwards, where they are in it and unpacked."""
    try:
        budget.take(2 * sum(rows.array.nbytes for rows in packed.values()), "rows packed already")
        budget.take(2 * array.nbytes, f"the rows of {ref.short}, in the file and out of it")
    except OverBudgetError as error:
        error.hint = "leave them in their file, take fewer, or allow more by --memory"
        raise error.at(ref.op) from None


def as_tensor(array: np.ndarray) -> np.ndarray:
    """As tensors are: numbers in this machine's order, texts as objects. Raises GradstepError."""
    try:
        dtype = DType.of(array.dtype).numpy
    except TypeError:
        raise GradstepError(
            f"rows of {array.dtype} cannot be packed",
            kind="TypeError",
            hint="save them as float64, or leave them in their file",
        ) from None
    return np.asarray(array, dtype)


def _short_name(place: str) -> str:
    """`iris.csv:a,b`, `digits/*.png`: as people know the file."""
    path, part = split_place(place[1:])
    parts = PurePosixPath(path.replace("\\", "/")).parts
    name = "/".join(parts[-2:] if is_pattern(path) else parts[-1:]).strip() or "rows"
    return f"{name}:{part}" if part else name
