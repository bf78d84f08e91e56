"""What a query found, as text and as JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from gradstep.core.cli.output.command_output import table
from gradstep.core.protocol.messages import MomentRow, Moments

_HEADER = ("at", "iteration", "node", "tensor", "element", "value")


def query_text(found: Moments) -> str:
    """A line for each step, and how many there are of how many runs."""
    lines = [] if not found.rows else [table([*map(_cells, found.rows)], _HEADER)]
    return "\n".join([*lines, _count(found)])


def query_object(found: Moments) -> dict[str, Any]:
    """The same for programs: `moments`, with run and step from 0."""
    rows = [msgspec.to_builtins(row) for row in found.rows]
    numbers = {name: getattr(found, name) for name in ("count", "runs", "repeated", "lost")}
    return {"moments": rows, **numbers}


def _cells(row: MomentRow) -> list[str]:
    iteration = "" if row.iteration is None else str(row.iteration)
    element = "" if row.element is None else str(row.element)
    return [row.position, iteration, row.node, row.tensor, element, row.said]


def _count(found: Moments) -> str:
    runs = f"{found.runs} run{'' if found.runs == 1 else 's'}"
    steps = f"{found.count} step{'' if found.count == 1 else 's'}"
    parts = [f"{steps if found.count else 'nowhere'} in {runs}"]
    if len(found.rows) < found.count:
        parts.append(f"the first {len(found.rows)} are listed")
    if found.repeated:
        parts.append(f"{found.repeated} of them made again for this")
    if found.lost:
        parts.append(f"{found.lost} places in loops are not kept any more")
    return ", ".join(parts)
