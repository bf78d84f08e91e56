"""Scripts for the terminal's debugger: its commands with arguments, some just beside them."""

from __future__ import annotations

from random import Random

from gradstep.core.cli.console.console import console_commands
from tests.fuzz import odd
from tests.fuzz.expressions import expression

_WORDS = [word for each in console_commands() for word in (each.name, *each.aliases)]


def console_script(dice: Random, names: list[str]) -> str:
    """Some lines; names: of operations."""
    lines = []
    for _ in range(dice.randrange(1, 7)):
        word = dice.choice(_WORDS)
        rest = [_argument(dice, names) for _ in range(dice.choice((0, 1, 1, 2, 3)))]
        line = " ".join([word, *rest])
        lines.append(odd.slip(dice, line) if dice.random() < 0.1 else line)
    return dice.choice(("\n", ";", "; ")).join(lines)


def _argument(dice: Random, names: list[str]) -> str:
    what = dice.randrange(6)
    if what == 0:
        return f"{abs(odd.whole(dice)) % 40}:{abs(odd.whole(dice)) % 40}"
    if what == 1:
        return f"0:{dice.randrange(20)}/{odd.whole(dice)}:{dice.randrange(9)}"
    if what == 2:
        return f"if {expression(dice, names, 3)}"
    if what == 3:
        return dice.choice(("gradient", "scope", "type", "phase", "all", "main", "b", "w=v", "x/="))
    return odd.text(dice, names)
