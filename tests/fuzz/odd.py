"""Values that programs stumble over: names, numbers, shapes, element types."""

from __future__ import annotations

from random import Random
from typing import Any

TEXTS = (
    "", " ", ":0", ":", "a:", "a:-1", "a:99", "a:" + "9" * 5000, "a:²", "^a", "/", "a/", "//", ".",
    "..", "../../etc/passwd", "a\0b", "a\nb", "\u202egnp.exe", "é", "e\u0301", "名前", "😀",
    "x" * 300,
    "<img src='file:///dev/zero'>", "<b>bold", "&amp;", "{}", "%s", "'", '"', "\\", '"""', "'''",
    "__class__", "import os", "a=1;b", "$(reboot)", "NaN", "None", "True", "0", "-1", "1e999",
    "gradients", "train", "save/restore_all", "_Arg", "loop:_Cond", "name", "value", "grad", "ı",
)  # fmt: skip
WHOLE = (
    0, 1, -1, 2, 3, 7, 31, 32, 33, 64, 127, 128, 255, 256, -128, 1000, 65_536, 10**6, 2**31 - 1,
    2**31, -(2**31), 2**32, 2**62, 2**63 - 1, -(2**63),
)  # fmt: skip
BEYOND = (2**63, 2**64, 2**200, -(2**63) - 1)  # of what 64 bits hold
REAL = (0.0, -0.0, 0.5, -1.5, 1e-45, 5e-324, 3.4e38, 1e39, 1.7e308, 1e-308, 2.0**53, 1e16)
NOT_FINITE = ("NaN", "Infinity", "-Infinity")
DTYPES = (
    "float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
    "uint64", "bool", "string", "complex64", "complex128", "resource", "variant",
)  # fmt: skip
SHAPES: tuple[list[int | None] | None, ...] = (
    None, [], [0], [1], [2], [3], [2, 3], [3, 2], [1, 1], [0, 5], [5, 0], [None], [None, 3],
    [2, None], [1] * 32, [1] * 33, [2**31], [2**40, 2**40], [2**62, 0], [10_000, 10_000], [7, 1, 5],
)  # fmt: skip


def text(dice: Random, known: list[str]) -> str:
    """A name: mostly one of `known`, or one with a slip in it."""
    if known and dice.random() < 0.7:
        name = dice.choice(known)
        return name if dice.random() < 0.8 else slip(dice, name)
    return dice.choice(TEXTS)


def slip(dice: Random, word: str) -> str:
    """`word` with one change in it."""
    at = dice.randrange(len(word) + 1)
    middle = dice.choice(
        ("", word[at : at + 1] * 2, dice.choice(TEXTS)[:8], word[at : at + 1].upper())
    )
    return word[:at] + middle + word[at + 1 :]


def whole(dice: Random) -> int:
    return dice.choice(WHOLE) if dice.random() < 0.6 else dice.randrange(-3, 12)


def number(dice: Random) -> float | int:
    return dice.choice(REAL) if dice.random() < 0.5 else whole(dice)


def shape(dice: Random) -> list[int | None] | None:
    if dice.random() < 0.4:
        return dice.choice(SHAPES)
    return [dice.choice((None, 0, 1, 2, 3, 4)) for _ in range(dice.randrange(5))]


def value_like(dice: Random, old: Any, known: list[str]) -> Any:
    """Another value of the same kind as `old`, as a rule."""
    if dice.random() < 0.08:
        return dice.choice(
            (None, True, [], {}, "", 0, -1.5, [None], {"kind": "type"}, dice.choice(BEYOND))
        )
    if isinstance(old, bool):
        return not old
    if isinstance(old, int):
        return whole(dice)
    if isinstance(old, float):
        return number(dice)
    if isinstance(old, str):
        return text(dice, known)
    return old
