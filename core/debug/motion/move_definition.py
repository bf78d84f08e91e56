"""What a move of the debugger is: one record, from which legality, help, menus and keys follow."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum


class DebuggerState(StrEnum):
    """Where the debugger stands, as far as moves go."""

    EMPTY = "there is nothing to run"
    ENTRY = "this is the start of the first run"
    OLDEST = "this is the start of the first run that is kept"
    INSIDE = "this is the middle of a run"
    END = "this is the end of a run"


class Moved(Enum):
    """Who moves, where there are several threads."""

    CURRENT = "the current thread; the others stand still"
    IN_TURN = "all of them, in turn"
    ANEW = "all of them, to their starts, and all that was done is forgotten"


@dataclass(frozen=True)
class MenuRow:
    """How the window shows a move.

    title, tip: what it is called, and one sentence of what it does. keys: as Qt spells them; the
    first one is shown. section, place: where it stands in the Run menu, sections being set apart by
    a line. icon: name of a drawing in assets/icons. toolbar: whether it is a button, too.
    """

    title: str
    tip: str
    keys: tuple[str, ...] = ()
    section: int = 0
    place: int = 0
    icon: str = ""
    toolbar: bool = False


@dataclass(frozen=True)
class Move:
    """A move of the debugger.

    name:     in messages and scripts in Python. `Stepper` has a method of that name, which
              is the move: it returns the step that is still to be gone on to or, where it has gone
              there itself, None or what stopped it.
    help:     what the console's `help` says of it.
    legal_in: the states in which it may be given.
    aliases:  other names in the console; `help` shows the first.
    target:   what has to be said with it, and is given to the method; "": nothing.
    repeats:  whether an empty line in the console makes it once more.
    moved:    who moves, where there are several threads.
    menu:     its row in the window; None: it has none.
    """

    name: str
    help: str
    legal_in: tuple[DebuggerState, ...]
    aliases: tuple[str, ...] = ()
    target: str = ""
    repeats: bool = False
    moved: Moved = Moved.CURRENT
    menu: MenuRow | None = None

    @property
    def word(self) -> str:
        """The name without what keeps it from being a word of Python's."""
        return self.name.rstrip("_")
