"""Expressions of conditions and watches: most of them in the language, some just beside it."""

from __future__ import annotations

from random import Random

from tests.fuzz import odd

_FUNCTIONS = (
    "isnan isinf isfinite any all abs norm min max mean std sum sqrt exp log shape size rank count "
    "dead"
).split()
_BINARY = "+ - * / // % ** @ & | ^ << >>".split()
_COMPARE = "< <= > >= == != is in".split()
_BESIDE = (
    "__import__('os')", "(lambda: 0)()", "[x for x in value]", "value.shape", "f'{value}'", "x",
    "x[0]", "open", "value if grad else 0", "x['a':'b']", "...", "*value", "a := 1", "value[grad]",
    "'text'", "b'1'", "{1}", "{}", "value()", "norm(value, 2)", "ratio(value, grad)",
    "saturated(value, 0, 1)", "ratio(value)", "saturated(value, grad, 'a')", "norm(x=value)", "1j",
)  # fmt: skip


def expression(dice: Random, names: list[str], depth: int = 0) -> str:
    """One expression; a slip in every tenth."""
    text = _term(dice, names, depth)
    return odd.slip(dice, text) if dice.random() < 0.1 else text


def _term(dice: Random, names: list[str], depth: int) -> str:
    if depth > 4 or dice.random() < 0.3:
        return _leaf(dice, names)
    a, b = (_term(dice, names, depth + 1) for _ in range(2))
    what = dice.randrange(9)
    if what < 2:
        return f"{dice.choice(_FUNCTIONS)}({a})"
    if what == 2:
        return f"{a} {dice.choice(_COMPARE)} {b}"
    if what == 3:
        return f"({a}) {dice.choice(_BINARY)} ({b})"
    if what == 4:
        return f"{dice.choice(('not ', '-', '+', '~'))}({a})"
    if what == 5:
        return f"({a}) {dice.choice(('and', 'or'))} ({b})"
    if what == 6:
        return f"({a})[{_index(dice)}]"
    if what == 7:
        return f"({a}, {b}{dice.choice((',', ''))})"
    return f"{a} < {b} < {_leaf(dice, names)}"


def _leaf(dice: Random, names: list[str]) -> str:
    what = dice.randrange(8)
    if what < 2:
        return dice.choice(("value", "grad"))
    if what == 2:
        return str(odd.number(dice))
    if what == 3:
        return dice.choice(("inf", "nan", "pi", "True", "None", "9" * 400, "1e400", "9**9**9"))
    if what == 4:
        return dice.choice(_BESIDE)
    name = odd.text(dice, names)
    quoted = repr(name)
    if what == 5:
        return f"grad[{quoted}, {odd.text(dice, names)!r}]"
    return f"{dice.choice(('x', 'grad', 'update', 'value'))}[{quoted}]"


def _index(dice: Random) -> str:
    return dice.choice(
        (
            *("0", "-1", "99", "0, 1", ":", "1:", "::-1", "::0", "...", "None", "'a'", "1.5"),
            *("True", str(odd.whole(dice)), "9" * 30, "0, ::2", "()", "grad"),
        )
    )
