"""Completing a line of the console: commands, then names of operations and words of expressions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from gradstep.core.command_text import last_command_start
from gradstep.core.debug.breaks.breakpoints import BreakpointKind
from gradstep.core.debug.breaks.expression_words import FUNCTIONS, NAMES
from gradstep.core.debug.breaks.ready_conditions import READY
from gradstep.core.graph.loop import within

if TYPE_CHECKING:
    from gradstep.core.cli.console.console import Console

_WORD = re.compile(r"[\w./-]*$")
_MOST = 60


def complete(console: Console, line: str) -> list[str]:
    """What the line may be once its last word is completed; nothing where that begins none."""
    found = _WORD.search(line)
    word = "" if found is None else found[0]
    before = line[: len(line) - len(word)]
    if not before[last_command_start(before) :].strip():
        words: Iterable[str] = console.command_names
    elif not word:
        return []
    else:
        words = _words(console)
    fitting = dict.fromkeys(each for each in words if each.startswith(word) and each != word)
    return [before + each for each in [*fitting][:_MOST]]


def _words(console: Console) -> Iterator[str]:
    yield from (op.name for op in within(console.session.program.graph))
    yield from FUNCTIONS
    yield from NAMES
    yield from (ready.word for ready in READY)
    yield from (kind.value for kind in BreakpointKind)
    yield from ("--every", "--back", "--next")
