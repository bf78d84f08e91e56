"""docs/moves.md: every move of the debugger, its keys and what it is called in the console."""

from __future__ import annotations

import json
from collections.abc import Iterator

from gradstep.core.debug.motion.move_definition import DebuggerState, Move
from gradstep.core.debug.motion.move_table import MOVES, Moves

_INTRODUCTION = """\
# Moves

Every move of the debugger: in the window (menu **Run**) by its key, in the terminal (`gradstep \
debug FILE`, and its `--script`) by its name or a short one, and in Python, where \
[python.md](python.md) has the rest. This page is written from the table of moves by `./dev docs`; \
a test fails where the two differ. [adding-a-move.md](adding-a-move.md) says how to add one.

| move | key | in the terminal | in Python | |
|---|---|---|---|---|
"""
_STATES = {
    DebuggerState.ENTRY: "at the start of the first run",
    DebuggerState.INSIDE: "in the middle of a run",
    DebuggerState.END: "at the end of a run",
}


def page() -> str:
    """The page as the table makes it."""
    return _INTRODUCTION + "\n".join(map(_row, MOVES.values())) + "\n"


def _row(move: Move) -> str:
    menu = move.menu
    keys = "" if menu is None else ", ".join(f"**{key}**" for key in menu.keys)
    title = move.word.replace("_", " ").capitalize() if menu is None else menu.title
    words = ", ".join(f"`{word}`" for word in (move.word, *move.aliases))
    help = f"{move.help}{''.join(_nowhere(move))}"
    return f"| {title} | {keys} | {words} | `{_call(move)}` | {help} |"


def _call(move: Move) -> str:
    """What scripts write."""
    target = ["target"] if move.target else []
    if hasattr(Moves, move.name):
        return f"{move.name}({', '.join(target)})"
    return f"command({', '.join([json.dumps(move.name), *target])})"


def _nowhere(move: Move) -> Iterator[str]:
    """Where it cannot be made."""
    missing = [text for state, text in _STATES.items() if state not in move.legal_in]
    if missing:
        yield f" (not {' and not '.join(missing)})"
