"""Rows of data that are in the document itself: a column names them `@packed:iris.csv:a,b`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from gradstep.core.document.dataset import Dataset
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant
from gradstep.core.graph.suggestions import instead

PACKED = "packed"  # where a file's path would stand, or the name of a set
_START = re.compile(rf"@{PACKED}:")
Rows = Mapping[str, Constant]


def packed_name(text: str) -> str:
    """The name of the rows that a column's text takes; "" where they are not in the document."""
    place = text.partition("|")[0].strip()
    return place[len(PACKED) + 2 :].strip() if _START.match(place) else ""


def packed_place(name: str) -> str:
    """What a column's text says for rows of that name."""
    return f"@{PACKED}:{name}"


def find_packed(packed: Rows, name: str) -> Constant:
    """Raises GradstepError where the document has no such rows."""
    if name not in packed:
        raise GradstepError(
            f"no rows are packed into the document as '{name}'",
            kind="ValueError",
            hint=instead(name, [*packed]) or "name the file of these rows, and pack it",
        )
    return packed[name]


def with_packed_column(document: Document, tensor: str, name: str, rows: Constant) -> Document:
    """`tensor` fed from `rows`, as the document is to have them from here on; what is done to them
    stays. name: as `free_name` gives it."""
    assert document.data is not None
    _, bar, steps = document.data.columns[tensor].partition("|")
    text = f"{packed_place(name)} |{steps}" if bar else packed_place(name)
    data = replace(document.data, columns={**document.data.columns, tensor: text})
    packed = {**document.packed, name: rows}
    return replace(document, data=data, packed=used_rows(data, packed))


def free_name(packed: Rows, name: str, rows: Constant) -> str:
    """`name`, or with a number behind it where other rows are called so."""
    chosen, number = name, 1
    while chosen in packed and packed[chosen] != rows:
        number += 1
        chosen = f"{name} {number}"
    return chosen


def used_rows(data: Dataset | None, packed: Rows) -> Rows:
    """Those that a column takes: others would be in the file for nothing."""
    used = {packed_name(text) for text in data.columns.values()} if data is not None else set()
    left = {name: rows for name, rows in packed.items() if name in used}
    return packed if len(left) == len(packed) else left
