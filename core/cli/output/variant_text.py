"""What gradstep grad --what-if says: gradients side by side, and where they part."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gradstep.core.checks.gradients.variant_sentences import VARIANTS
from gradstep.core.cli.output.command_output import table
from gradstep.core.protocol.messages import GradientVariants, VariantCell, VariantRow

_HEADER = ("with respect to", "", "norm", "elements", "from native", "parts at")


def variants_object(found: GradientVariants) -> dict[str, object]:
    """By tensor and variant; a gradient that does not exist has the norm null."""
    gradients = {row.wrt: {cell.variant: _object(cell) for cell in row.cells} for row in found.rows}
    return {"gradients": gradients, "errors": found.errors, "text": found.text}


def variants_text(found: GradientVariants) -> str:
    """A line for each gradient and variant, and why some could not be computed."""
    lines = [line for row in found.rows for line in _lines(row)]
    failed = [f"{name} cannot be computed: {text}" for name, text in found.errors.items()]
    return "\n".join(["", table(lines, _HEADER), *failed])


def _object(cell: VariantCell) -> dict[str, object]:
    parts_at = {"node": cell.node, "type": cell.type, "why": cell.why} if cell.node else None
    return {
        "norm": cell.norm,
        "preview": cell.preview,
        "same": cell.same,
        "difference": cell.difference,
        "looked_at": cell.looked_at,
        "parts_at": parts_at,
    }


def _lines(row: VariantRow) -> list[Sequence[str]]:
    return [
        [row.wrt if number == 0 else "", cell.variant, *_cells(row, cell)]
        for number, cell in enumerate(row.cells)
    ]


def _cells(row: VariantRow, cell: VariantCell) -> Sequence[str]:
    norm = "None" if cell.norm is None else f"{cell.norm:.4g}"
    of = f" {cell.looked_at} of {row.size}" if 0 < cell.looked_at < row.size else ""
    return norm, cell.preview + of, _difference(cell), cell.where


def _difference(cell: VariantCell) -> str:
    if cell.variant == VARIANTS[0]:
        return ""
    if cell.same:
        return "the same"
    if cell.difference is None or math.isnan(cell.difference):
        return "another"
    return f"{cell.difference:.1%}" if math.isfinite(cell.difference) else "not zero"
