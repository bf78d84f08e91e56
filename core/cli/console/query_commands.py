"""The console's commands that ask of all recorded runs: where something was so, who wrote it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradstep.core.cli.console.console_command import ConsoleCommand, Reply
from gradstep.core.cli.console.move_commands import needs
from gradstep.core.cli.output.query_text import query_object, query_text
from gradstep.core.debug.breaks.expression_names import written_by_name
from gradstep.core.host.query_answers import find_moments
from gradstep.core.protocol.messages import FindMoments
from gradstep.core.protocol.vocabulary import WhichMoment

if TYPE_CHECKING:
    from gradstep.core.cli.console.console import Console

_WHICH: dict[str, WhichMoment] = {"--every": "every", "--back": "previous", "--next": "next"}


def query(console: Console, rest: str) -> Reply:
    """`query [--every | --back | --next] EXPRESSION`: where it holds; without one, first of all."""
    first, _, text = rest.partition(" ")
    which = _WHICH.get(first, "first")
    text = text.strip() if first in _WHICH else rest
    if not text:
        raise needs("query", "[--every | --back | --next] EXPRESSION")
    return _asked(console, text, which)


def who(console: Console, name: str) -> Reply:
    """`who NAME`: the last step up to here that gave a tensor its value."""
    if not name:
        raise needs("who", "the name of a variable")
    return _asked(console, written_by_name(name), "last")


def _asked(console: Console, text: str, which: WhichMoment) -> Reply:
    found = find_moments(console.session, FindMoments(text=text, which=which))
    return Reply(query_text(found), query_object(found))


QUERY_COMMANDS = (
    ConsoleCommand(
        "query",
        query,
        "[--every | --back | --next] EXPRESSION: at which step of all runs it holds; nan, inf, …",
        ("find",),
    ),
    ConsoleCommand("who", who, "NAME: which step gave it the value that it has here"),
)
