"""The console's commands that move the debugger: those of the table of moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradstep.core.cli.console.console_command import ConsoleCommand, Reply
from gradstep.core.debug.motion.legal_moves import require_near
from gradstep.core.debug.motion.move_definition import Move
from gradstep.core.debug.motion.move_table import MOVES
from gradstep.core.errors import GradstepError

if TYPE_CHECKING:
    from gradstep.core.cli.console.console import Console


def move_commands() -> Iterator[ConsoleCommand]:
    """One for each move, in the table's order."""
    return map(_console_command, MOVES.values())


def _console_command(move: Move) -> ConsoleCommand:
    def run(console: Console, rest: str) -> Reply:
        target = rest if move.target else ""
        if move.target and not target:
            raise needs(move.word, move.target)
        require_near(target, console.session.stop.runs)
        return console.acts.move(move.name, target)

    aliases = (*move.aliases, *({move.name} - {move.word}))
    alone = not move.target
    return ConsoleCommand(move.word, run, move.help, aliases, move.repeats, alone)


def needs(command: str, what: str) -> GradstepError:
    """For a command that was given without what has to be said with it."""
    return GradstepError(
        f"{command} needs {what}", kind="ValueError", hint="help lists the commands"
    )
