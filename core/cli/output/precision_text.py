"""What a number format does to a result, as text: the error, its shares, and what helps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from gradstep.core.checks.precision.error_shares import Share
from gradstep.core.checks.precision.gradient_underflow import LossScale
from gradstep.core.checks.precision.precision_report import PrecisionReport
from gradstep.core.cli.output.command_output import table
from gradstep.core.graph.model import Graph

_SHOWN = 12  # shares, and gradients
_SMALL = 0.001  # shares below it are folded


def precision_text(found: PrecisionReport, graph: Graph, every: bool = False) -> str:
    """every: with the smallest shares, too."""
    return "\n".join(_lines(found, graph, every))


def _lines(found: PrecisionReport, graph: Graph, every: bool) -> Iterator[str]:
    yield _headline(found)
    if found.overflows:
        yield (
            f"{_listed(found.overflows)} overflow{'s' if len(found.overflows) == 1 else ''}, and "
            "had to stay in float32: all below is of the others."
        )
    if found.error:
        shown = [one for one in found.shares if every or abs(one.share) >= _SMALL]
        shown = shown if every else shown[:_SHOWN]
        yield ""
        yield table([_row(one, graph) for one in shown], ("share", "operation", "type", ""))
        rest = [one for one in found.shares if one not in shown]
        if rest:
            share, count = sum(one.share for one in rest), sum(len(one.names) for one in rest)
            yield f"{share:7.1%}  {count} more (--all shows them)"
        yield ""
        yield _kept(found)
    if found.losses:
        yield ""
        yield from _training(found)
    if found.scale is not None:
        yield ""
        yield from _scale(found.scale)


def _headline(found: PrecisionReport) -> str:
    start = f"{_count(found.operations)} in {found.format}"
    if not math.isfinite(found.norm):
        return f"{found.target} is not finite in float32 either: gradstep why says why."
    if not math.isfinite(found.error):
        return f"{start} make {found.target} infinite or NaN."
    if not found.error:
        return f"{start} leave {found.target} as it is in float32."
    part = f" ({found.error / found.norm:.2g} of it)" if found.norm else ""
    return f"{start} move {found.target} by {found.error:.3g}{part}."


def _row(one: Share, graph: Graph) -> list[str]:
    first = graph[one.names[0]]
    rest = f"and {len(one.names) - 1} behind it" if len(one.names) > 1 else ""
    phase = "" if first.phase.value == "forward" else first.phase.value
    return [f"{one.share:7.1%}", first.name, first.type, rest or phase]


def _kept(found: PrecisionReport) -> str:
    if not found.kept:
        return "Nothing has to stay in float32."
    left = f"{found.kept_error:.2g} of {found.error:.3g} is left"
    are = "stays" if len(found.kept) == 1 else "stay"
    return f"Enough where {_listed(found.kept)} {are} in float32: {left}."


def _training(found: PrecisionReport) -> Iterator[str]:
    plain, short, mixed = (found.losses[name] for name in ("float32", found.format, "kept"))
    with_those = f"{mixed[-1]:.6g} with those in float32"
    yield (
        f"Loss after {len(plain)} updates: {plain[-1]:.6g} in float32, {short[-1]:.6g} in "
        f"{found.format}, {with_those}."
    )
    for name, losses in ((found.format, short), ("float32 in part", mixed)):
        if len(losses) < len(plain):
            yield f"In {name} it is not finite from update {len(losses)} on."


def _scale(scale: LossScale) -> Iterator[str]:
    lossy = [one for one in scale.gradients if one.lost]
    if not lossy:
        yield "No gradient is too small for float16."
        return
    yield (
        f"{len(lossy)} of {len(scale.gradients)} gradients lose elements in float16, which become "
        f"0. With the loss times {scale.scale:g}:"
    )
    rows = [(one.name, f"{one.lost:.1%}", f"{one.lost_scaled:.1%}") for one in lossy[:_SHOWN]]
    yield table(rows, ("gradient of", "lost", "then"))


def _count(number: int) -> str:
    return "1 operation" if number == 1 else f"{number} operations"


def _listed(names: Sequence[str]) -> str:
    shown = names if len(names) <= _SHOWN else [*names[:_SHOWN], f"{len(names) - _SHOWN} more"]
    return ", ".join(shown[:-1]) + (" and " if len(shown) > 1 else "") + shown[-1]
