"""What can be chosen of a block when it is made: values, their bounds, how they are typed in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gradstep.core.errors import GradstepError


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing to choose.

    default: also says of what kind the values are: bool, int, float, str or a tuple of int.
    doc: what it is for. choices: the only texts allowed, if there are any. least: the smallest
    number; below: numbers are less than that. names: of a text, what it names in the graph around
    the block ("network"), "" for nothing.
    """

    default: Any
    doc: str = ""
    choices: tuple[str, ...] = ()
    least: float | None = None
    below: float | None = None
    names: str = ""

    def read(self, name: str, text: str) -> Any:
        """The value that is written as `text`. Raises GradstepError (ValueError)."""
        try:
            return self.checked(name, _READERS[type(self.default)](text.strip()))
        except ValueError:
            raise self._wrong(name, text) from None

    def written(self, value: Any) -> str:
        """`value` as it is typed in."""
        return ", ".join(map(str, value)) if isinstance(value, tuple) else f"{value}"

    def checked(self, name: str, value: Any) -> Any:
        """`value` as the block gets it. Raises GradstepError (ValueError) for a wrong one."""
        kind = type(self.default)
        if kind is float and type(value) is int:
            value = float(value)
        if kind is tuple and isinstance(value, list):
            value = tuple(value)
        right = type(value) is kind and (not self.choices or value in self.choices)
        if not right or not all(map(self._in_bounds, value if kind is tuple else [value])):
            raise self._wrong(name, value)
        return value

    def _in_bounds(self, number: Any) -> bool:
        high_enough = self.least is None or number >= self.least
        return high_enough and (self.below is None or number < self.below)

    def _wrong(self, name: str, value: Any) -> GradstepError:
        return GradstepError(
            f"{name} cannot be {value!r}", kind="ValueError", hint=f"it is {self.wanted}"
        )

    @property
    def wanted(self) -> str:
        """Which values are right, in words."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        words = {bool: "yes or no", int: "a whole number", float: "a number", str: "a name"}
        what = words.get(type(self.default), "whole numbers, separated by commas")
        bounds = [f"of at least {self.least:g}"] if self.least is not None else []
        bounds += [f"below {self.below:g}"] if self.below is not None else []
        return " ".join([what, " and ".join(bounds)]).strip()


def _flag(text: str) -> bool:
    return {"true": True, "yes": True, "false": False, "no": False}[text.lower()]


def _sizes(text: str) -> tuple[int, ...]:
    parts = text.strip("()[]").replace(",", " ").split()
    return tuple(int(part) for part in parts)


_READERS: dict[type, Any] = {bool: _flag, int: int, float: float, str: str, tuple: _sizes}


def whole(default: int, doc: str, least: int = 1) -> Setting:
    """A whole number."""
    return Setting(default, doc, least=least)


def number(
    default: float, doc: str, least: float | None = None, below: float | None = None
) -> Setting:
    return Setting(default, doc, least=least, below=below)


def flag(default: bool, doc: str) -> Setting:
    return Setting(default, doc)


def choice(doc: str, *choices: str) -> Setting:
    """One of these, at first the first."""
    return Setting(choices[0], doc, choices)


def sizes(default: tuple[int, ...], doc: str, least: int | None = 1) -> Setting:
    """Whole numbers, one or more."""
    return Setting(default, doc, least=least)
