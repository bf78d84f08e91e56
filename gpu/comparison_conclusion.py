"""What follows from the rows of a comparison, in words: all that is said of it as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gradstep.core.graph.model import Graph
from gradstep.core.ops.declare.placeable_ops import unfollowed
from gradstep.core.ops.typing.missing_inputs import Waiting
from gradstep.core.protocol.messages import ComparedNode
from gradstep.gpu.asked_effects import effects
from gradstep.gpu.difference_causes import Cause, causes_of
from gradstep.gpu.worded_lists import capital, nodes, share, size, some

_ONE_BY_ONE = "a comparison computes everything on one device, and then on the other"
Rows = Sequence[ComparedNode]


@dataclass(frozen=True)
class Compared:
    """What was compared. left, right: the devices' names. waits: nodes that do not run while the
    graph is drawn, and for what. asked: see messages.Comparison. goes_on: after a failure on one
    side, with the other's results."""

    rows: Rows
    left: str
    right: str
    graph: Graph
    waits: Mapping[str, Waiting] = field(default_factory=dict)
    asked: Mapping[str, str] = field(default_factory=dict)
    goes_on: bool = False


def brief(found: Compared) -> str:
    """In a few words: "2 of 12 nodes differ"."""
    differing = sum(row.differs for row in found.rows)
    if differing:
        return f"{differing} of {nodes(len(found.rows))} differ{'' if differing > 1 else 's'}"
    unknown = sum(bool(row.unknown) for row in found.rows)
    missing = _missing(found.rows) + len(found.waits)
    counts = ((missing, "not compared"), (unknown, "emulated in part"))
    but = ", ".join(f"{count} {what}" for count, what in counts if count)
    return "no node differs" + (f" ({but})" if but else "")


def conclusion(found: Compared) -> list[str]:
    """In sentences: semantics or rounding, who makes the difference and what it explains, what it
    does to what was asked for, and what is left open."""
    return [
        *_verdict(found),
        *_went_on(found),
        *effects(found.rows, found.asked),
        *_uncompared(found.rows),
        *_waiting(found.waits),
        *_unknown(found.rows),
        *filter(None, [unfollowed(found.graph, _ONE_BY_ONE)]),
    ]


def _verdict(found: Compared) -> Iterator[str]:
    if any(row.differs for row in found.rows):
        for number, cause in enumerate(causes_of(found.rows, found.graph)):
            yield from _because(cause, found, bool(number))
        yield f"{capital(brief(found))}."
        return
    close = [row for row in found.rows if row.verdict == "close"]
    if close:
        yield _within(close)
        return
    in_part = bool(_missing(found.rows) or found.waits)
    which = "No node that is compared" if in_part else "No node"
    rules = " by the rules that are emulated" if any(row.unknown for row in found.rows) else ""
    if any(row.unmeasured for row in found.rows):
        rules = " by the rules that are known"
    yield f"{which} makes a difference{rules}."


def _within(close: Rows) -> str:
    """Nothing but rounding, and nowhere too much."""
    farthest = max(close, key=lambda row: (row.metrics.get("share", 0.0), row.name))
    used = farthest.metrics.get("share")
    of_it = f", with {share(used)}" if used else ""
    are = "are" if len(close) > 1 else "is"
    return (
        f"Rounding only. No node differs by more than it may round: {nodes(len(close))} {are} "
        f"close, {farthest.name} the least so{of_it}."
    )


def _because(cause: Cause, found: Compared, further: bool) -> Iterator[str]:
    """further: there is a cause before it."""
    if cause.kind == "rounding":
        yield _rounding(cause, found, further)
        return
    first, more = cause.makers[0], len(cause.makers) - 1
    if cause.kind == "semantics":
        title, what = "Semantics, not rounding", cause.because or "it is another operation there"
    else:
        title = "Neither rounding nor a known rule"
        what = "more than its arithmetic may round"
    what_it_is = ", ".join(filter(None, (first.type, first.iteration)))
    place = f"{first.name} ({what_it_is}){f' and {more} more' if more else ''}"
    lead = "Then" if further else "First divergence"
    yield f"{title}. {lead}: {place}: {what}{_failure(first, found)}."
    if len(cause.explains) > len(cause.makers):
        yield f"That explains {_explained(cause, found.rows)}{_grown(cause)}."


def _rounding(cause: Cause, found: Compared, further: bool) -> str:
    what = cause.because or "sums and functions round otherwise"
    makers = sorted(cause.makers, key=lambda row: -(row.created or 0))
    some_make = f"{some(row.name for row in cause.makers)} make{'s' if len(makers) == 1 else ''}"
    each = " each" if len(makers) > 1 else ""
    most = f" ({some_make} up to {size(makers[0].created)}{each})" if makers[0].created else ""
    return (
        f"{'Besides, rounding' if further else 'Rounding'}: {what}{most}. That explains "
        f"{_explained(cause, found.rows)}{_grown(cause)}."
    )


def _failure(row: ComparedNode, found: Compared) -> str:
    """Which side fails, and how."""
    for name, side in ((found.left, row.left), (found.right, row.right)):
        if side.status == "raised":
            return f" ({name.removeprefix('emulate:')} fails: {side.text})"
    return ""


def _went_on(found: Compared) -> Iterator[str]:
    for failed, other in ((found.left, found.right), (found.right, found.left)):
        names = [row.name for row in found.rows if _fails(row, failed == found.left)]
        if names and found.goes_on:
            here, there = (name.removeprefix("emulate:") for name in (failed, other))
            yield f"After {some(names)}, {here} goes on with what {there} gave."


def _fails(row: ComparedNode, left: bool) -> bool:
    """Whether a row fails on that side, and not on the other."""
    side, other = (row.left, row.right) if left else (row.right, row.left)
    return side.status == "raised" and other.status == "ok"


def _explained(cause: Cause, rows: Rows) -> str:
    differing, count = sum(row.differs for row in rows), len(cause.explains)
    if count < differing:
        return f"{count} of the {differing} nodes that differ"
    return f"all {count} nodes that differ" if count > 1 else "the node that differs"


def _grown(cause: Cause) -> str:
    """Where what comes in is made larger, and how large it is in the end."""
    worst = max(cause.explains, key=lambda row: row.inherited or 0.0)
    places = " and ".join(f"{factor:.1f}× at {name}" for factor, name in cause.grown)
    most = f"{size(worst.inherited)} at {worst.name}" if worst.inherited else ""
    if not (most or places):
        return ""
    grown = f", amplified {places}" if places else ""
    return f"{grown}{', and' if grown else ', and it'} reaches {most}" if most else grown


def _uncompared(rows: Rows) -> Iterator[str]:
    """Nodes that fail alike are equal in that; what needs them has nothing to be compared."""
    alike = [row.name for row in rows if row.verdict == "raises" and not row.differs]
    if alike:
        yield f"{some(alike)} fail{'' if len(alike) > 1 else 's'} on both alike."
    if missing := _missing(rows):
        are = "are" if missing > 1 else "is"
        yield f"{nodes(missing)} {are} not compared: an input is not available."


def _waiting(waits: Mapping[str, Waiting]) -> Iterator[str]:
    if waits:
        are, they = ("are", "they wait") if len(waits) > 1 else ("is", "it waits")
        what = some(dict.fromkeys(map(str, waits.values())))
        yield f"{nodes(len(waits))} {are} not compared: {they} for {what}."


def _missing(rows: Rows) -> int:
    return sum(row.verdict == "unavailable" for row in rows)


def _unknown(rows: Rows) -> Iterator[str]:
    """What a device that is emulated may do otherwise, and nobody knows."""
    whats: dict[str, list[str]] = {}
    for row in rows:
        if row.unmeasured:
            whats.setdefault(row.unmeasured, []).append(row.name)
    for what, names in whats.items():
        yield f"{capital(what)} (in {some(names)}): there the result may be another."
    sums = sorted((row for row in rows if row.terms), key=lambda row: -row.terms)
    others = [row.name for row in rows if row.unknown not in ("", row.unmeasured) and not row.terms]
    parts = []
    if sums:
        parts.append(f"the order of sums in {some(f'{r.name} ({r.terms:,} terms)' for r in sums)}")
    if others:
        parts.append(f"the last bits of {some(others)}")
    if parts:
        yield f"Not emulated: {'; '.join(parts)}. There a real device may round otherwise."
