"""The console's commands for breakpoints: where it stops, or writes, and on what condition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gradstep.core.cli.console.console_command import ConsoleCommand, Reply
from gradstep.core.cli.console.move_commands import needs
from gradstep.core.cli.output.command_output import table
from gradstep.core.debug.breaks.breakpoint_targets import require_targets
from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.debug.breaks.ready_conditions import condition_named
from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import anywhere

if TYPE_CHECKING:
    from gradstep.core.cli.console.console import Console

_KINDS = "[gradient|scope|type|phase|line|write] NAME [if EXPRESSION]"


def add(console: Console, rest: str) -> Reply:
    """`break [KIND] NAME [if EXPRESSION]`; a word such as nan stands for the expression."""
    return _add(console, _breakpoint(rest, "break", _KINDS))


def log(console: Console, rest: str) -> Reply:
    """`log [KIND] NAME [if EXPRESSION]: TEXT`: it does not stop, but writes the text."""
    place, colon, text = rest.partition(": ")
    if not colon or not text.strip():
        raise needs("log", f'{_KINDS}: TEXT, such as log loss: it is {{x["loss"]}}')
    return _add(console, replace(_breakpoint(place, "log", _KINDS), log=text.strip()))


def _breakpoint(rest: str, command: str, what: str) -> Breakpoint:
    place, asked, condition = f"{rest} ".partition(" if ")
    first, _, name = place.strip().partition(" ")
    kind = BreakpointKind.OP
    if name and first in {k.value for k in BreakpointKind}:
        kind, place = BreakpointKind(first), name
    if not place.strip():
        raise needs(command, what)
    if asked and not condition.strip():
        raise needs(f"{command} {place.strip()} if", "an expression, such as value > 0")
    return Breakpoint(place.strip(), kind, condition_named(condition.strip()))


def _add(console: Console, point: Breakpoint) -> Reply:
    require_targets(console.session.program.graph, point)
    return _set(console, [*console.breakpoints, point])


def delete(console: Console, rest: str) -> Reply:
    """`delete N`, by the number in the list; `delete` alone: all."""
    number = _number(console, rest, "delete") if rest else None
    kept = [b for i, b in enumerate(console.breakpoints, 1) if rest and i != number]
    return _set(console, kept)


def hits(console: Console, rest: str) -> Reply:
    """`hits N COUNT`: breakpoint N stops, or writes, only from that hit on."""
    number, _, count = rest.partition(" ")
    if not count.strip().isdecimal() or int(count) < 1:
        raise needs("hits", "the number of a breakpoint, and from which hit on it stops: hits 1 10")
    return _change(console, number, "hits", lambda b: replace(b, hits=int(count)))


def exempt(console: Console, rest: str) -> Reply:
    """`exempt N [NODE …]`: at which nodes breakpoint N does not stop; alone: at all it does."""
    number, *names = rest.split() or [""]
    for name in names:
        anywhere(console.session.program.graph, name)
    return _change(console, number, "exempt", lambda b: replace(b, exempt=frozenset(names)))


def enable(console: Console, rest: str) -> Reply:
    """`enable N`."""
    return _change(console, rest, "enable", lambda b: replace(b, enabled=True))


def disable(console: Console, rest: str) -> Reply:
    """`disable N`: it stays in the list, and does not stop."""
    return _change(console, rest, "disable", lambda b: replace(b, enabled=False))


def _change(
    console: Console, number: str, command: str, change: Callable[[Breakpoint], Breakpoint]
) -> Reply:
    points = [*console.breakpoints]
    place = _number(console, number, command) - 1
    points[place] = change(points[place])
    return _set(console, points)


def _set(console: Console, points: Sequence[Breakpoint]) -> Reply:
    return console.acts.set_breakpoints(points, lambda: show(console))


def _number(console: Console, text: str, command: str) -> int:
    """Of a breakpoint, from 1."""
    count = len(console.breakpoints)
    if not count:
        raise GradstepError(
            "there are no breakpoints", kind="ValueError", hint="break NAME sets one"
        )
    if text not in map(str, range(1, count + 1)):
        raise needs(command, f"a number from 1 to {count}")
    return int(text)


def show(console: Console, rest: str = "") -> Reply:
    """All breakpoints, by number, and how often each was hit."""
    counts = console.session.hit_counts
    there = len(counts) == len(console.breakpoints)
    hit = counts if there else [0] * len(console.breakpoints)  # they are on their way
    counted = [*zip(console.breakpoints, hit, strict=True)]
    rows = [[str(i), *_cells(b, count)] for i, (b, count) in enumerate(counted, 1)]
    found = [_object(b, count) for b, count in counted]
    return Reply(table(rows) or "no breakpoints", {"breakpoints": found})


def _cells(b: Breakpoint, count: int) -> list[str]:
    further = [
        f"if {b.condition}" if b.condition else "",
        f"from hit {b.hits}" if b.hits > 1 else "",
        f"not at {', '.join(sorted(b.exempt))}" if b.exempt else "",
        "" if b.enabled else "off",
        f"writes: {b.log}" if b.log else "",
        f"hit {count} time{'' if count == 1 else 's'}" if count else "",
    ]
    return [b.kind.value, b.target, ", ".join(filter(None, further))]


def _object(b: Breakpoint, count: int) -> dict[str, object]:
    return {
        "target": b.target,
        "kind": b.kind.value,
        "condition": b.condition,
        "hits": b.hits,
        "exempt": sorted(b.exempt),
        "enabled": b.enabled,
        "log": b.log,
        "hit": count,
    }


BREAKPOINT_COMMANDS = (
    ConsoleCommand("break", add, f"{_KINDS}; nan, inf, zero, grown, …", ("b",)),
    ConsoleCommand("log", log, 'NAME [if EXPRESSION]: TEXT with {x["loss"]}, without stopping'),
    ConsoleCommand(
        "breakpoints", show, "all breakpoints by number, and how often each was hit", alone=True
    ),
    ConsoleCommand("hits", hits, "N COUNT: stops only from that hit on"),
    ConsoleCommand("exempt", exempt, "N NODE …: where it does not stop"),
    ConsoleCommand("enable", enable, "N"),
    ConsoleCommand("disable", disable, "N: it stays in the list, and does not stop"),
    ConsoleCommand("delete", delete, "N, or all"),
)
