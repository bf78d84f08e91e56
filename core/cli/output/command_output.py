"""Answers and errors on the terminal: one JSON object, or text for people.

Loads no NumPy: a mistake in the command line is answered without.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradstep.core.cli.application_protocol import Answer
from gradstep.core.errors import USAGE, GradstepError, error_text

if TYPE_CHECKING:
    import numpy as np


def usage(message: str, hint: str = "") -> GradstepError:
    """An error of the command line itself."""
    return GradstepError(message, kind=USAGE, hint=hint)


def report(answer: Answer, as_json: bool) -> int:
    """Print an answer; the exit status."""
    if as_json:
        print_json(finite(answer.data))
    elif answer.text:
        print(answer.text)
    return answer.status


def report_error(error: GradstepError, as_json: bool) -> int:
    """Print an error; exit status 2 for bad usage, else 1."""
    if as_json:
        print_json({"error": error_object(error)})
    else:
        print(f"gradstep: {error_text(error)}", file=sys.stderr)
    return 2 if error.kind == USAGE else 1


def warn(error: GradstepError) -> None:
    """Say something beside the answer."""
    print(f"gradstep: {error_text(error)}", file=sys.stderr)


def print_json(data: Any) -> None:
    """One line; with escapes where the terminal has no Unicode."""
    plain = "utf" not in (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
    print(json.dumps(data, ensure_ascii=plain, allow_nan=False))


def print_line(data: Any) -> None:
    """One of --lines, for who reads while it goes on."""
    print_json(finite(data))
    sys.stdout.flush()


def require_json(args: argparse.Namespace) -> None:
    """Raise GradstepError (UsageError) for --lines without --json."""
    if args.lines and not args.json:
        raise usage("--lines is about --json", "say --json, or leave it away")


def kernel_lines(computed_by: Mapping[str, str]) -> list[str]:
    """For each library that computed something in NumPy's place, what."""
    return [
        f"by {library}: {', '.join(name for name, by in computed_by.items() if by == library)}"
        for library in dict.fromkeys(computed_by.values())
    ]


def error_object(error: GradstepError) -> dict[str, Any]:
    """The object under "error" in every command's --json."""
    return {
        "type": error.kind,
        "message": error.message,
        "node": error.node,
        "index": None if error.index is None else list(error.index),
        "hint": error.hint,
    }


def finite(value: Any) -> Any:
    """`value` with NaN and infinities as strings, as JSON can hold it."""
    if isinstance(value, float) and not math.isfinite(value):
        from gradstep.core.io.native.tensor_json import number_to_json

        return number_to_json(value)
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value


def tensor_object(array: np.ndarray | None) -> dict[str, Any] | None:
    """A tensor in JSON; null for one that does not exist."""
    from gradstep.core.io.native.tensor_json import to_json

    return None if array is None else to_json(array)


def tensor_text(array: np.ndarray | None) -> str:
    """A tensor in a line or few: its type, and its elements or the outer ones of many."""
    import numpy as np

    if array is None:
        return "None"
    shape = list(array.shape)
    kind = "string" if array.dtype == object else array.dtype.name
    values = np.array2string(array, separator=", ", threshold=60, edgeitems=3, max_line_width=88)
    return f"{kind}{shape} {values}"


def table(rows: Sequence[Sequence[str]], header: Sequence[str] = ()) -> str:
    """Rows in columns that line up; further lines of a cell are indented to it."""
    every = [list(header), *map(list, rows)] if header else [list(row) for row in rows]
    count = max((len(row) for row in every), default=0)
    widths = [
        max(len(line) for row in every if i < len(row) for line in row[i].split("\n") or [""])
        for i in range(count)
    ]
    return "\n".join(_row(row, widths) for row in every)


def _row(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [cell.split("\n") for cell in row]
    height = max((len(cell) for cell in cells), default=0)
    lines = []
    for i in range(height):
        parts = [(c[i] if i < len(c) else "").ljust(w) for c, w in zip(cells, widths, strict=False)]
        lines.append("  ".join(parts).rstrip())
    return "\n".join(lines)
