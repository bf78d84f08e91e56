"""How two networks are aligned, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradstep.core.checks.alignment.alignment_report import (
    AlignmentReport,
    Difference,
    SideFigures,
)
from gradstep.core.checks.alignment.paired_gradients import GradientPair
from gradstep.core.cli.output.command_output import table

_SHOWN = 8  # operations of a side, unless all are asked for


def alignment_text(found: AlignmentReport, file: str, other: str, every: bool = False) -> str:
    """every: all operations of a stretch, however many."""
    return "\n".join(_lines(found, file, other, every))


def _lines(found: AlignmentReport, file: str, other: str, every: bool) -> Iterator[str]:
    yield f"FILE   {file}: {_figures(found.file)}"
    yield f"OTHER  {other}: {_figures(found.other)}"
    yield "fed alike: " + (", ".join(f"{a} = {b}" for a, b in found.inputs) or "nothing")
    for number, one in enumerate(found.differences, 1):
        yield ""
        yield from _difference(one, number, every)
    if not found.differences:
        yield ""
        yield "No value is other beyond rounding."
        yield from _ends(found)
    if found.gradients is not None:
        yield from _gradients(found.gradients)
    if found.remark:
        yield ""
        yield found.remark


def _figures(side: SideFigures) -> str:
    weights = side.weights - len(side.unmet_weights)
    said = f"{side.met} of {side.operations} operations met, {weights} of {side.weights} weights"
    inside = f"; {side.inside} between them have no counterpart" if side.inside else ""
    alone = f"; alone: {', '.join(side.unmet_weights)}" if side.unmet_weights else ""
    return said + inside + alone


def _difference(one: Difference, number: int, every: bool) -> Iterator[str]:
    where = (
        "First difference" if number == 1 else f"Difference {number}, with those before made good"
    )
    after = f", after {one.after[-1][0]} = {one.after[-1][1]}" if one.after else ""
    yield f"{where}{after}:"
    for name, stretch in (("FILE ", one.file), ("OTHER", one.other)):
        yield from _stretch(name, stretch, every)
    for rule in one.rules:
        yield f"  {rule}"
    if not one.rules:
        yield "  no rule that is known makes it"
    if one.meeting is None:
        yield "  from there on nothing is the same again, whatever is made good"
    else:
        size = f"{one.distance:.2g} of their norm"
        yield f"  {one.meeting[0]} and {one.meeting[1]} should be the same; apart by {size}"


def _stretch(name: str, stretch: Sequence[tuple[str, str]], every: bool) -> Iterator[str]:
    shown = stretch if every else stretch[-_SHOWN:]
    rest = len(stretch) - len(shown)
    more = f"{rest} more (--all), then " if rest else ""
    yield f"  {name}  {more}" + ", ".join(f"{op} ({kind})" for op, kind in shown)


def _ends(found: AlignmentReport) -> Iterator[str]:
    for name, side in (("FILE", found.file), ("OTHER", found.other)):
        if side.behind:
            first, *rest = side.behind
            more = f" and {len(rest)} more" if rest else ""
            yield f"{name} goes on alone, with {first}{more}."


def _gradients(pairs: Sequence[GradientPair]) -> Iterator[str]:
    other = [one for one in pairs if one.distance > one.limit]
    largest = max((one.distance for one in pairs), default=0.0)
    if not other:
        yield f"The gradients of {len(pairs)} weights agree, to {largest:.1g} of their norm."
        return
    yield f"{len(other)} of {len(pairs)} gradients are other; the first, going backward:"
    yield table(
        [[one.file, one.other, f"{one.distance:.2g}"] for one in other],
        ("FILE", "OTHER", "apart by"),
    )
