"""What the rows of a batch have to do with its gradient, in words; no more than was measured."""

from __future__ import annotations

from dataclasses import dataclass

from gradstep.core.graph.model import TensorRef
from gradstep.core.protocol.messages import RowsWeighed, RowWeight
from gradstep.gui.look.theme import Tone

# From which share on a row stands out: so many even ones, but no less and no more than that.
TIMES, LEAST, MOST = 4, 0.1, 0.75


@dataclass(frozen=True)
class Verdict:
    """row: the one that it is about; None for none."""

    title: str
    text: str = ""
    tone: Tone = "selection"
    row: RowWeight | None = None


def verdict(found: RowsWeighed) -> Verdict:
    """About a batch of one row at least."""
    first = found.rows[0]
    if found.size == 1:
        return Verdict("The batch is this one row", "So all of its gradient is that row's.")
    if first.loss is None or first.norm is None:
        text = "Fed to this step alone, it makes the loss or its gradient NaN or infinite."
        return Verdict(f"Row {first.row:,} is not finite", text, "problem", first)
    if first.share is None:
        return _unclear(found)
    if first.share >= min(max(LEAST, TIMES / found.size), MOST):
        title = f"Row {first.row:,}: {percent(first.share)} of the gradient"
        return Verdict(title, _about(found, first), "problem", first)
    even = _even(found)
    if first.share > 0.5:
        text = f"Row {first.row:,} makes most of this gradient, {percent(first.share)}; {even}."
    else:
        text = f"No row makes more of it than row {first.row:,}: {percent(first.share)}; {even}."
    return Verdict("No row stands out", text, row=first)


def _unclear(found: RowsWeighed) -> Verdict:
    """Nothing can be said of shares."""
    if found.gap is None:
        text = "That of each row by itself is finite, so none of them alone is the reason."
        return Verdict("The gradient is not finite", text, "problem")
    if found.gap == 0:
        return Verdict("The gradient is 0", "Where rows pull, they pull against each other.")
    text = (
        "The gradients of single rows do not add up to that of the batch: they miss it by "
        f"{percent(found.gap)} of its norm, as with batch normalisation, dropout, or a loss that "
        "is neither a mean nor a sum over rows. So no row is blamed."
    )
    return Verdict("Rows hang on each other here", text)


def _even(found: RowsWeighed) -> str:
    return f"an even share is {percent(1 / found.size)}"


def _about(found: RowsWeighed, row: RowWeight) -> str:
    cells = short_cells(found, row)
    said = f"With {cells}, its" if cells else "Its"
    said += f" loss is {number(row.loss)}"
    if found.others is not None:
        said += f", the others' {number(found.others)} on average"
    against = " The others together pull the other way." if row.share and row.share > 1 else ""
    even = "" if row.share is None or row.share > 0.5 else f" {_even(found).capitalize()}."
    return f"{said}.{even}{against}"


def short_cells(found: RowsWeighed, row: RowWeight) -> str:
    """ "labels 0 0 1": of the columns whose rows are a few numbers."""
    named = zip(found.columns, row.cells, strict=False)
    said = [f"{TensorRef.parse(name).short} {text}" for name, text in named if "…" not in text]
    return ", ".join(said)


def number(value: float | None) -> str:
    """ "0.201", "8.94e-5"; what is no number, in words."""
    if value is None:
        return "not finite"
    mantissa, e, exponent = f"{value:.3g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if e else mantissa


def percent(share: float) -> str:
    """ "81 %"; of less than one percent a digit more."""
    return f"{100 * share:.0f} %" if abs(share) >= 0.0095 else f"{100 * share:.1g} %"
