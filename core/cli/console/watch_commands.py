"""The console's commands for watches: expressions that are said wherever the debugger stops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gradstep.core.cli.console.console_command import ConsoleCommand, Reply
from gradstep.core.cli.output.command_output import table
from gradstep.core.document.watch_edits import watched_expression
from gradstep.core.errors import GradstepError
from gradstep.core.host.watch_answers import read_watches
from gradstep.core.protocol.messages import Watch, WatchRow

if TYPE_CHECKING:
    from gradstep.core.cli.console.console import Console


def add(console: Console, rest: str) -> Reply:
    """`watch EXPRESSION`, or a tensor's name; `watch` alone: all of them."""
    if not rest:
        return show(console)
    text = watched_expression(console.session.program.graph, rest)
    watches = [*dict.fromkeys([*console.watches, text])]
    return console.acts.set_watches(watches, lambda: show(console))


def show(console: Console, rest: str = "") -> Reply:
    """All watches, by number."""
    rows = read(console)
    lines = [[str(i), *_said(row)] for i, row in enumerate(rows, 1)]
    return Reply(table(lines) or "no watches", {"watches": watch_objects(rows)})


def remove(console: Console, rest: str) -> Reply:
    """`unwatch N`, by the number in the list; `unwatch` alone: all."""
    count = len(console.watches)
    if rest and rest not in map(str, range(1, count + 1)):
        meant = f"a number from 1 to {count}" if count else "a watch, and there is none"
        raise GradstepError(f"unwatch needs {meant}", kind="ValueError", hint="watch lists them")
    kept = [text for i, text in enumerate(console.watches, 1) if rest and str(i) != rest]
    return console.acts.set_watches(kept, lambda: show(console))


def read(console: Console) -> list[WatchRow]:
    """What is watched, as it is here."""
    if not console.watches:
        return []
    return read_watches(console.session, Watch(texts=console.watches)).rows


def watch_lines(rows: Sequence[WatchRow]) -> str:
    """A line each; "" where nothing is watched."""
    return table([*map(_said, rows)])


def watch_objects(rows: Sequence[WatchRow]) -> list[dict[str, str]]:
    """The same for JSON: the expression with its value in words, or why there is none."""
    return [
        {"watch": row.text, "error": row.error}
        if row.error
        else {"watch": row.text, "is": row.said}
        for row in rows
    ]


def _said(row: WatchRow) -> list[str]:
    return [row.text, f"error: {row.error}" if row.error else row.said or "not computed yet"]


WATCH_COMMANDS = (
    ConsoleCommand("watch", add, "NAME or EXPRESSION: said wherever it stops; alone: all of them"),
    ConsoleCommand("unwatch", remove, "N, or all"),
)
