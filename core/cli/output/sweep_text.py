"""The rows of a sweep as a table: the best first, then what failed."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep.core.cli.output.command_output import table
from gradstep.core.sweep.run_list import varied
from gradstep.core.sweep.sweep_records import RunRow, SweepRecord

_LONGEST = 40  # rows; --json and the folder have all


def sweep_table(record: SweepRecord, rows: Sequence[RunRow]) -> str:
    """A line for each run that is over."""
    names, has_seeds = varied(record.runs), any(run.seed is not None for run in record.runs)
    held = any(row.validation is not None for row in rows)
    ordered = sorted(rows, key=lambda row: (row.shown_loss, row.number))
    header = ["run", *names, *(["seed"] if has_seeds else []), "loss", "best", "at step"]
    header += [*(["validation"] if held else []), "steps", "seconds", ""]
    lines = [
        [
            str(row.number),
            *(row.values.get(name, "") for name in names),
            *([str(row.seed)] if has_seeds else []),
            number_text(row.loss),
            number_text(row.best),
            str(row.best_step) if row.best is not None else "",
            *([number_text(row.validation)] if held else []),
            str(row.steps),
            f"{row.seconds:.1f}",
            besides(row),
        ]
        for row in ordered[:_LONGEST]
    ]
    more = [f"and {len(rows) - _LONGEST} more"] if len(rows) > _LONGEST else []
    return "\n".join([table(lines, header), *more])


def besides(row: RunRow) -> str:
    """Why it failed, or ended early."""
    if row.error is not None:
        return row.error.message
    again = f"begun {row.tries} times" if row.tries > 1 else ""
    return ", ".join(filter(None, [row.ended, again]))


def run_words(row: RunRow) -> str:
    """A run by what was set: `run 3 (learning_rate=0.1, seed 2)`."""
    said = [f"{name}={value}" for name, value in row.values.items()]
    said += [f"seed {row.seed}"] if row.seed is not None else []
    return f"run {row.number}" + (f" ({', '.join(said)})" if said else "")


def number_text(number: float | None) -> str:
    """In six digits; "" for none."""
    return "" if number is None else f"{number:.6g}"
