"""Tables as text, CSV and TSV: rows of cells made into numbers, and which cell is none.

Rows count from 1 and the header is one of them, as a spreadsheet shows them.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradstep.core.data.column_choice import choose_columns
from gradstep.core.errors import GradstepError
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.io.disk.memory_budget import Budget

FLOAT64 = np.dtype(np.float64)
_SEPARATORS = "\t;,"
_WORDS = frozenset(("", "nan", "na", "n/a", "null", "none", "inf", "-inf"))  # none names a column
_AT_ONCE = 1 << 14  # cells
_SAMPLE = 1 << 16  # characters in which separators are counted


@dataclass(frozen=True)
class TableRules:
    """How a table is read. where: the file, for messages; "" for what was pasted. columns: those
    that are wanted ("a,b", "2..65"), all without. separator: between cells, "" to find it, " " for
    any space. dtype: of the numbers, object for texts. allow_nan: whether NaN and empty cells
    become NaN."""

    where: str = ""
    columns: str = ""
    separator: str = ""
    dtype: np.dtype = FLOAT64
    allow_nan: bool = False


def read_table(text: str, rules: TableRules, budget: Budget) -> np.ndarray:
    """The wanted cells, [rows, columns], without the header if there is one. Raises GradstepError
    that says the row and the column."""
    separator = rules.separator or find_separator(text)
    rules = replace(rules, separator=separator)
    cells = text.count(separator) + text.count("\n") + 1
    budget.take(cells * max(8, rules.dtype.itemsize), "its cells")
    found = _Lines(text, rules)
    if kind_of(rules.dtype) == "O":
        return found.texts()
    return found.numbers()


def find_separator(text: str) -> str:
    """A tab, semicolon or comma, whichever the text has, tabs first; else any space, where that
    makes rows of equal length or of numbers; else a tab, for a single column."""
    sample = text[:_SAMPLE]
    found = next((mark for mark in _SEPARATORS if mark in sample), None)
    if found is not None:
        return found
    rows = [row for line in sample.splitlines() if (row := line.split())]
    even = len({len(row) for row in rows}) == 1
    return " " if rows and (even or all(map(_is_number, rows[0]))) else "\t"


class _Lines:
    """Rows that are not blank, with their numbers."""

    def __init__(self, text: str, rules: TableRules) -> None:
        self._rules = rules
        self._quoted = '"' in text
        if self._quoted:
            rows = _quoted_rows(text, rules)
            self._numbers = [i for i, row in enumerate(rows, 1) if any(map(str.strip, row))]
            self._rows: list[list[str]] = [rows[i - 1] for i in self._numbers]
            self._plain: list[str] = []
        else:
            there = [(i, line) for i, line in enumerate(io.StringIO(text), 1) if line.strip()]
            self._numbers = [i for i, _ in there]
            self._plain = [line.rstrip("\n") for _, line in there]
            self._rows = []
        if not self._numbers:
            raise self._error("there are no rows", "fill the table, or name another one")
        self._require_even()
        first = self._row(0)
        self._names = first if _is_header(first, kind_of(rules.dtype) == "O", rules.columns) else []
        self._chosen = choose_columns(rules.columns, self._names, len(first), rules.where)
        self._first = 1 if self._names else 0
        if len(self._numbers) == self._first:
            raise self._error("there is a header, and there are no rows below it", "add rows")

    def numbers(self) -> np.ndarray:
        found = None if self._quoted else self._parsed_at_once(self._rules.dtype)
        if found is None and kind_of(self._rules.dtype) in "iu":  # 1.0 is a whole number as well
            found = None if self._quoted else self._parsed_at_once(np.dtype(np.float64))
        cells = self._parsed_singly() if found is None else found
        if not self._rules.allow_nan and kind_of(cells.dtype) in "fc":
            self._require_numbers(cells)
        return cells

    def texts(self) -> np.ndarray:
        rows = [self._row(at) for at in range(self._first, len(self._numbers))]
        return np.array([[row[c].strip() for c in self._chosen] for row in rows], object)

    def _parsed_at_once(self, dtype: np.dtype) -> np.ndarray | None:
        """By NumPy, in parts, between which other threads have their turn; None where a cell is no
        number."""
        lines = max(1, _AT_ONCE // max(1, len(self._chosen)))
        starts = range(self._first, len(self._plain), lines)
        try:
            parts = [self._parsed(self._plain[at : at + lines], dtype) for at in starts]
        except (ValueError, OverflowError):
            return None
        return np.concatenate(parts)

    def _parsed(self, lines: list[str], dtype: np.dtype) -> np.ndarray:
        separator = None if self._rules.separator == " " else self._rules.separator
        return np.loadtxt(
            lines, dtype, comments=None, delimiter=separator, usecols=self._chosen, ndmin=2
        )

    def _parsed_singly(self) -> np.ndarray:
        """Raises GradstepError for the first cell that is no number."""
        count = len(self._numbers) - self._first
        made = np.empty((count, len(self._chosen)), complex if self._complex else float)
        for at in range(count):
            row = self._row(at + self._first)
            for place, column in enumerate(self._chosen):
                made[at, place] = self._number(row[column].strip(), at + self._first, column)
        return made

    @property
    def _complex(self) -> bool:
        return kind_of(self._rules.dtype) == "c"

    def _number(self, cell: str, at: int, column: int) -> complex:
        try:
            return complex(cell) if self._complex else float(cell)
        except ValueError:
            pass
        if cell.lower() in _WORDS:
            if self._rules.allow_nan:
                return float("nan")
            raise self._missing(at, column, "is empty" if not cell else f"is {cell}")
        hint = "leave the column out by naming the others, such as FILE.csv:a,b"
        if self._rules.separator == ";" and "," in cell:
            hint = "write a point for the decimal comma"
        raise self._cell(at, column, f"is {cell!r:.40}, which is no number", hint)

    def _require_numbers(self, cells: np.ndarray) -> None:
        bad = np.argwhere(np.isnan(cells))
        if len(bad):
            at, place = (int(i) for i in bad[0])
            raise self._missing(at + self._first, self._chosen[place], "is NaN")

    def _require_even(self) -> None:
        """Raises GradstepError for the first row that is shorter or longer than the one before."""
        width = len(self._row(0))
        for at in range(len(self._numbers)):
            count = self._width(at)
            if count != width:
                raise self._error(
                    f"row {self._numbers[at]} has {_cells(count)}, and row {self._numbers[0]} has "
                    f"{width}",
                    "give all rows the same number of cells",
                )

    def _width(self, at: int) -> int:
        if self._quoted or self._rules.separator == " ":
            return len(self._row(at))
        return self._plain[at].count(self._rules.separator) + 1

    def _row(self, at: int) -> list[str]:
        if self._quoted:
            return self._rows[at]
        separator = self._rules.separator
        return self._plain[at].split(None if separator == " " else separator)

    def _missing(self, at: int, column: int, what: str) -> GradstepError:
        return self._cell(at, column, what, "fill it in, or delete the row")

    def _cell(self, at: int, column: int, what: str, hint: str) -> GradstepError:
        name = f"'{self._names[column].strip()}'" if self._names else f"{column + 1}"
        return self._error(f"row {self._numbers[at]}, column {name} {what}", hint)

    def _error(self, what: str, hint: str) -> GradstepError:
        place = f"{self._rules.where}: " if self._rules.where else ""
        return GradstepError(f"{place}{what}", kind="ValueError", hint=hint)


def _quoted_rows(text: str, rules: TableRules) -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=rules.separator))
    except csv.Error as error:
        raise GradstepError(
            f"{rules.where or 'the table'} is no table: {error}",
            kind="ValueError",
            hint="save it again as CSV",
        ) from None


def _is_header(row: Sequence[str], texts: bool, columns: str) -> bool:
    """Whether a first row names columns: a cell of it is no number, and none is a fraction. Among
    texts, where a column is asked for by one of its names."""
    cells = [cell.strip() for cell in row]
    if texts:
        return any(name in cells for name in re.split(r",|\.\.", columns) if name.strip())
    others = [cell for cell in cells if cell.lower() not in _WORDS and not _is_number(cell)]
    names = [cell for cell in cells if cell.isdecimal() or not cell]
    return bool(others) and len(others) + len(names) == len(cells)


def names_columns(row: Sequence[str]) -> bool:
    """Whether the first row of a table of numbers names its columns."""
    return _is_header(row, texts=False, columns="")


def _is_number(cell: str) -> bool:
    try:
        complex(cell)
    except ValueError:
        return False
    return cell.strip("+-").lower() != "j"  # a name, as of a column beside "i"


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"
