"""Columns of numbers and texts in a Parquet file, read by pyarrow: the extra `parquet`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from gradstep.core.data.column_choice import choose_columns
from gradstep.core.data.tables import TableRules
from gradstep.core.errors import GradstepError
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.installation import extra_command
from gradstep.core.io.disk.memory_budget import Budget

PARQUET = b"PAR1"  # how such a file begins


def read_parquet(file: IO[bytes], rules: TableRules, budget: Budget) -> np.ndarray:
    """The wanted cells, [rows, columns], as `read_table` gives them: of rules.dtype, and NaN for
    what is not there where that is allowed. Raises GradstepError that says the row and column."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise GradstepError(
            f"{rules.where} is a Parquet file, and pyarrow, which reads these, is not installed",
            kind="UnavailableError",
            hint=f"type {extra_command('parquet')}, or save the table as CSV",
        ) from None
    import pyarrow

    try:
        held = parquet.ParquetFile(file)
        return _Columns(held, rules, budget).cells()
    except GradstepError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, TypeError, KeyError) as error:
        words = " ".join(str(error).split())[:100]
        raise GradstepError(
            f"{rules.where} cannot be read: {words}", kind="FileError", hint="save it again"
        ) from None


@dataclass(frozen=True)
class _Columns:
    """file: pyarrow's ParquetFile."""

    file: Any
    rules: TableRules
    budget: Budget

    def cells(self) -> np.ndarray:
        schema = self.file.schema_arrow
        chosen = choose_columns(self.rules.columns, schema.names, len(schema), self.rules.where)
        rows = self.file.metadata.num_rows
        if not rows:
            raise self._error("there are no rows", "fill the table, or name another one")
        self.budget.take(rows * len(chosen) * max(8, self.rules.dtype.itemsize), "its cells")
        for place in chosen:
            self._require_kind(schema.field(place))
        names = [schema.names[place] for place in chosen]
        table = self.file.read(columns=[*dict.fromkeys(names)])
        return np.stack([self._column(table.column(name), name) for name in names], axis=1)

    def _require_kind(self, field: Any) -> None:
        """Raises GradstepError for columns of lists, dates and the like, and for texts where
        numbers are asked for."""
        from pyarrow import types

        kind = field.type.value_type if types.is_dictionary(field.type) else field.type
        number = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
        text = (types.is_string, types.is_large_string)
        wanted = (*number, *text) if kind_of(self.rules.dtype) == "O" else number
        if not any(is_kind(kind) for is_kind in wanted):
            what = "numbers or texts" if kind_of(self.rules.dtype) == "O" else "numbers"
            hint = "leave the column out by naming the others, such as FILE.parquet:a,b"
            raise self._error(f"column '{field.name}' holds {kind}, no {what}", hint)

    def _column(self, column: Any, name: str) -> np.ndarray:
        import pyarrow

        if pyarrow.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if kind_of(self.rules.dtype) == "O":
            return self._texts(column)
        if column.null_count and not self.rules.allow_nan:
            self._refuse(int(np.argmax(column.is_null().to_numpy())), name, "is empty")
        whole = kind_of(self.rules.dtype) in "iu" and not column.null_count
        if whole and not pyarrow.types.is_floating(column.type):
            return np.asarray(column.cast(pyarrow.int64()))
        cells = np.asarray(column.cast(pyarrow.float64(), safe=False))  # as numbers of a text are
        if not self.rules.allow_nan and np.isnan(cells).any():
            self._refuse(int(np.argmax(np.isnan(cells))), name, "is NaN")
        return cells

    def _texts(self, column: Any) -> np.ndarray:
        texts = ["" if text is None else str(text) for text in column.to_pylist()]
        return np.array(texts, object)

    def _refuse(self, row: int, name: str, what: str) -> None:
        raise self._error(f"row {row + 1}, column '{name}' {what}", "fill it in, or delete the row")

    def _error(self, what: str, hint: str) -> GradstepError:
        return GradstepError(f"{self.rules.where}: {what}", kind="ValueError", hint=hint)
