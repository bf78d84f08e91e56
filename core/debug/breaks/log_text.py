"""What a logpoint writes: a text with expressions in braces, `loss is {x["loss"]}`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from gradstep.core.debug.breaks.expression import Expression, Scope, parse
from gradstep.core.debug.value_words import value_text
from gradstep.core.errors import GradstepError

_BRACES = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_NOT_YET = "(not computed)"


@dataclass(frozen=True, slots=True)
class LogText:
    """parts: texts, and expressions of the breakpoints' language."""

    parts: tuple[str | Expression, ...]

    def written(self, scope: Scope) -> str:
        """With what the expressions are there; one that cannot be evaluated says why."""
        return "".join(x if isinstance(x, str) else _said(x, scope) for x in self.parts)


def parse_log(text: str) -> LogText:
    """`{{` and `}}` are braces. Raises GradstepError for an expression that cannot be read, and for
    a brace without another."""
    parts: list[str | Expression] = []
    end = 0
    for found in _BRACES.finditer(text):
        parts += [text[end : found.start()], _part(found, text)]
        end = found.end()
    return LogText(tuple(part for part in (*parts, text[end:]) if part != ""))


def map_expressions(text: str, change: Callable[[str], str]) -> str:
    """The text with other expressions in its braces."""

    def changed(found: re.Match[str]) -> str:
        return found[0] if found[1] is None else f"{{{change(found[1])}}}"

    return _BRACES.sub(changed, text)


def log_expressions(text: str) -> list[str]:
    """The expressions in its braces."""
    return [found[1] for found in _BRACES.finditer(text) if found[1] is not None]


def _part(found: re.Match[str], text: str) -> str | Expression:
    if found[1] is not None:
        return parse(found[1])
    if len(found[0]) == 2:
        return found[0][0]
    raise GradstepError(
        f"there is a '{found[0]}' without another in '{text}'",
        kind="ExpressionError",
        hint=f'an expression stands in braces: loss is {{x["loss"]}}; {found[0] * 2} is a brace',
    )


def _said(expression: Expression, scope: Scope) -> str:
    try:
        value = expression.evaluate(scope)
    except GradstepError as error:
        return f"({error.message})"
    return _NOT_YET if value is None else value_text(value)
