"""What is known of all of a tensor, in a line: element type, shape, statistics."""

from __future__ import annotations

from gradstep.gui.model import number_text, variable_change
from gradstep.gui.model.value_cache import TensorValue

FINITE = "of the finite ones:"  # what a tensor's range is of that holds NaN or an infinity


def facts(value: TensorValue | None) -> str:
    """`float32[64, 32]  min -1.2  max 3.4  mean 0.1  norm 7`, or why there is nothing to show. What
    is known of the finite ones alone stands behind how many are not."""
    if value is None:
        return "…"
    if value.state == "none":
        return "there is no gradient: None, which is not zero"
    if value.state != "known":
        return value.absence or "not computed at this step"
    parts = [f"{value.dtype}[{', '.join(map(str, value.shape))}]"]
    stats = value.stats
    if stats is not None:
        ends = _named(min=stats.minimum, max=stats.maximum, mean=stats.mean)
        norm, wrong = _named(norm=stats.norm), number_text.wrong(stats)
        if not wrong:
            parts += [*ends, *norm]
        else:  # a mean of what is left is not that of the tensor
            parts += [*wrong, *norm, *([FINITE, *ends] if ends else [])]
        parts += [f"{stats.zeros} zero{'s' if stats.zeros > 1 else ''}"] if stats.zeros else []
    changed = variable_change.of(value)
    parts += [f"changed in this run: {changed.size}"] if changed is not None else []
    return "  ".join(parts)


def _named(**numbers: float | None) -> list[str]:
    """Those that are known, with their names."""
    return [
        f"{name} {number_text.scalar(float(x))}" for name, x in numbers.items() if x is not None
    ]
