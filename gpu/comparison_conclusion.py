"""What follows from the rows of a comparison, in words: all that is said of it as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from gradstep.core.ops.typing.missing_inputs import Waiting
from gradstep.core.protocol.messages import ComparedNode

_NAMED = 3  # nodes; of the others, how many

Rows = Sequence[ComparedNode]
Waits = Mapping[str, Waiting]  # nodes that do not run while the graph is drawn, and for what
NONE: Waits = MappingProxyType({})


def brief(rows: Rows, waits: Waits = NONE) -> str:
    """In a few words: "2 of 12 nodes differ"."""
    differing = sum(row.differs for row in rows)
    if differing:
        return f"{differing} of {_nodes(len(rows))} differ{'' if differing > 1 else 's'}"
    unknown = sum(bool(row.unknown) for row in rows)
    missing = _missing(rows) + len(waits)
    counts = ((missing, "not compared"), (unknown, "emulated in part"))
    but = ", ".join(f"{count} {what}" for count, what in counts if count)
    return "no node differs" + (f" ({but})" if but else "")


def conclusion(rows: Rows, waits: Waits = NONE) -> str:
    """In sentences: who parts the devices, what comes of it, and what is left open."""
    verdict = _verdict(rows, bool(_missing(rows) or waits))
    return " ".join([verdict, *_uncompared(rows), *_waiting(waits), *_unknown(rows)])


def _verdict(rows: Rows, in_part: bool) -> str:
    differing = [row for row in rows if row.differs]
    creators = [row for row in rows if row.creates]
    if creators:
        others = f" and {len(creators) - 1} more" if len(creators) > 1 else ""
        first = f"{creators[0].name} ({creators[0].type})"
        return f"First divergence: {first}{others}. {_capital(brief(rows))}."
    if differing:
        return f"{_capital(brief(rows))}, none by itself{_passed_on(rows, differing)}"
    close = [row for row in rows if row.verdict == "close"]
    if close:
        _, farthest = max((row.metrics.get("rel_l2", 0.0), row.name) for row in close)
        return (
            f"No node differs by more than it may round: {_nodes(len(close))} "
            f"{'are' if len(close) > 1 else 'is'} close, {farthest} the least so."
        )
    which = "No node that is compared" if in_part else "No node"
    rules = " by the rules that are emulated" if any(row.unknown for row in rows) else ""
    return f"{which} makes a difference{rules}."


def _passed_on(rows: Rows, differing: Rows) -> str:
    """Where nodes differ, and none of them beyond what its own arithmetic may round."""
    makers = sorted((row for row in rows if row.created), key=lambda row: -(row.created or 0))
    if not makers:
        return "."
    rules = dict.fromkeys(row.rule for row in makers if row.rule)
    worst = max(differing, key=lambda row: row.inherited or 0)
    reached = f", which reaches {worst.inherited:.2g} at {worst.name}" if worst.inherited else ""
    return (
        f": they pass on what {_some(row.name for row in makers)} may round otherwise, by up to "
        f"{makers[0].created:.2g}{reached}.{''.join(f' {rule}.' for rule in rules)}"
    )


def _uncompared(rows: Rows) -> Iterator[str]:
    """Nodes that fail alike are equal in that; what needs them has nothing to be compared."""
    alike = [row.name for row in rows if row.verdict == "raises" and not row.differs]
    if alike:
        yield f"{_some(alike)} fail{'' if len(alike) > 1 else 's'} on both alike."
    if missing := _missing(rows):
        are = "are" if missing > 1 else "is"
        yield f"{_nodes(missing)} {are} not compared: an input is not available."


def _waiting(waits: Waits) -> Iterator[str]:
    if waits:
        are, they = ("are", "they wait") if len(waits) > 1 else ("is", "it waits")
        what = _some(dict.fromkeys(map(str, waits.values())))
        yield f"{_nodes(len(waits))} {are} not compared: {they} for {what}."


def _missing(rows: Rows) -> int:
    return sum(row.verdict == "unavailable" for row in rows)


def _unknown(rows: Rows) -> Iterator[str]:
    """What a device that is emulated may do otherwise, and nobody knows."""
    sums = sorted((row for row in rows if row.terms), key=lambda row: -row.terms)
    others = [row.name for row in rows if row.unknown and not row.terms]
    parts = []
    if sums:
        parts.append(f"the order of sums in {_some(f'{r.name} ({r.terms:,} terms)' for r in sums)}")
    if others:
        parts.append(f"the last bits of {_some(others)}")
    if parts:
        yield f"Not emulated: {'; '.join(parts)}. There a real device may round otherwise."


def _nodes(count: int) -> str:
    return f"{count} node{'' if count == 1 else 's'}"


def _some(names: Iterable[str]) -> str:
    """The first few by name."""
    found = list(names)
    more = len(found) - _NAMED
    if more > 0:
        return f"{', '.join(found[:_NAMED])} and {more} more"
    return " and ".join(filter(None, [", ".join(found[:-1]), found[-1]]))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
