"""Settings as they are written: `learning_rate=1e-4:1:log8`, `hidden=16,32,64`."""

from __future__ import annotations

import re
from typing import Literal

import msgspec
import numpy as np

from gradstep.core.errors import USAGE, GradstepError

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER}):({_NUMBER})(?::(log|lin)?(\d+)?)?")
_DIGITS = 6  # of how many values a range has, at most
_NAME = re.compile(r"[^\s={}]+")
HINT = "write --set learning_rate=1e-4:1:log8, a list such as hidden=16,32, or one value"

Scale = Literal["lin", "log"]


class Span(msgspec.Struct, frozen=True):
    """Numbers from `low` to `high`, evenly spread on that scale."""

    low: float
    high: float
    scale: Scale


class Setting(msgspec.Struct, frozen=True):
    """values: what it is set to, as texts; () where a span is drawn from alone. span: what was
    written as a range."""

    name: str
    values: tuple[str, ...]
    span: Span | None = None


def parse_setting(text: str) -> Setting:
    """Raises GradstepError (UsageError)."""
    name, equals, written = text.partition("=")
    name, written = name.strip(), written.strip()
    if not equals or not written or not _NAME.fullmatch(name):
        raise _wrong(f"'{text}' is not NAME=VALUES")
    found = _RANGE.fullmatch(written)
    if found is None:
        values = split_values(written)
        if not all(values):
            raise _wrong(f"'{text}' has an empty value")
        return Setting(name, tuple(dict.fromkeys(values)))
    low, high, scale, count = found.groups()
    span = Span(float(low), float(high), "log" if scale == "log" else "lin")
    _check(span, text)
    digits = (count or "1").lstrip("0")
    if not digits:
        raise _wrong(f"'{text}' is a range of no values")
    if len(digits) > _DIGITS:
        raise _wrong(f"'{text}' is a range of too many values: 10 to the {_DIGITS}, or more")
    return Setting(name, _spread(span, int(count)) if count else (), span)


def split_values(text: str) -> list[str]:
    """The parts between commas that stand in no bracket and no quotes."""
    parts, depth, quote = [""], 0, ""
    for mark in text:
        quote = "" if mark == quote else quote or (mark if mark in "'\"" else "")
        if not quote:
            depth += (mark in "([{") - (mark in ")]}")
        if mark == "," and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += mark
    return [part.strip() for part in parts]


def number_text(number: float) -> str:
    """In six digits, as it is set and shown."""
    shown = f"{number:.6g}"
    return str(int(float(shown))) if "e" not in shown and float(shown).is_integer() else shown


def draw(span: Span, share: float) -> str:
    """The number that lies at `share` (0 to 1) of the way."""
    if span.scale == "log":
        low, high = np.log(span.low), np.log(span.high)
        return number_text(float(np.exp(low + share * (high - low))))
    return number_text(span.low + share * (span.high - span.low))


def _spread(span: Span, count: int) -> tuple[str, ...]:
    shares = np.linspace(0, 1, count).tolist() if count > 1 else [0.0]
    return tuple(dict.fromkeys(draw(span, share) for share in shares))


def _check(span: Span, text: str) -> None:
    if not np.isfinite([span.low, span.high]).all():
        raise _wrong(f"'{text}' is beyond what a number can be")
    if span.scale == "log" and not (span.low > 0 and span.high > 0):
        raise _wrong(f"'{text}' has a logarithmic range, which needs numbers above 0")


def _wrong(message: str) -> GradstepError:
    return GradstepError(message, kind=USAGE, hint=HINT)
