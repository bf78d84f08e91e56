"""Sets of data that come with the program: `@digits:images`, `@spirals:x`. Each has a note.

Those that are made are the same every time; their x is float32 [rows, numbers], their y [rows, 1].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from gradstep.core.ops.numerics import stream_draws as streams

_FOLDER = Path(__file__).parents[2] / "assets" / "data"
DIGITS, POEM = _FOLDER / "digits.npz", _FOLDER / "jabberwocky.txt"
_SEEDS = (87654321, 1)
_FLOAT = np.dtype(np.float32)
_POINTS = 400
_WINDOW = 16  # characters of a text that are seen

Parts = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class BuiltInSet:
    """make: its parts by name, of equally many rows. note: what it is, and what it is good for."""

    make: Callable[[], Parts]
    note: str

    @property
    def parts(self) -> Parts:
        return _made(self.make)


@cache
def _made(make: Callable[[], Parts]) -> Parts:
    parts = make()
    for array in parts.values():
        array.setflags(write=False)
    return parts


def _digits() -> Parts:
    with np.load(DIGITS, allow_pickle=False) as data:
        return {name: data[name] for name in ("images", "labels")}


def _spirals() -> Parts:
    turn = np.linspace(0.25, 1.0, _POINTS // 2)
    angle = turn * 3.5 * np.pi
    arm = turn[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return _labelled(arm, -arm, noise=0.03)


def _circles() -> Parts:
    angle = np.arange(_POINTS // 2) * (4 * np.pi / _POINTS)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return _labelled(ring, 0.4 * ring, noise=0.08)


def _xor() -> Parts:
    x = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)
    return {"x": x, "y": np.array([[0], [1], [1], [0]], np.float32)}


def _line() -> Parts:
    x = np.linspace(-1, 1, 100)[:, None]
    return {"x": x.astype(np.float32), "y": (2 * x + 0.5 + 0.2 * _noise(100, 1)).astype(np.float32)}


def _jabberwocky() -> Parts:
    """Characters by their places among the different ones, in the order of Unicode."""
    text = POEM.read_text(encoding="ascii").strip()
    letters = sorted({*text})
    ids = np.array([letters.index(letter) for letter in text], np.int32)
    windows = np.lib.stride_tricks.sliding_window_view(ids, _WINDOW)
    return {
        "x": windows[:-1].copy(),
        "y": ids[_WINDOW:].copy(),
        "shifted": windows[1:].copy(),
    }


def _labelled(first: np.ndarray, second: np.ndarray, noise: float) -> Parts:
    """Points of class 0 and of class 1, one of each in turn, moved a little."""
    x = np.stack([first, second], axis=1).reshape(-1, 2)
    x = x + noise * _noise(*x.shape)
    y = np.tile(np.array([[0], [1]], np.float32), (len(x) // 2, 1))
    return {"x": x.astype(np.float32), "y": y}


def _noise(rows: int, columns: int) -> np.ndarray:
    return streams.normals(_SEEDS, 0, rows * columns, _FLOAT).reshape(rows, columns)


SETS: Mapping[str, BuiltInSet] = {
    "digits": BuiltInSet(
        _digits,
        "1797 handwritten digits: images uint8 [1797, 8, 8] of 0 to 16, labels 0 to 9. By E. "
        "Alpaydin and C. Kaynak, UCI Machine Learning Repository, CC BY 4.0",
    ),
    "spirals": BuiltInSet(
        _spirals,
        "400 points of two spirals: no line parts the classes, and it takes more than one layer",
    ),
    "circles": BuiltInSet(
        _circles, "400 points of two rings, one in the other: linear in the squares"
    ),
    "xor": BuiltInSet(_xor, "the four rows of exclusive or: the least that one layer cannot learn"),
    "jabberwocky": BuiltInSet(
        _jabberwocky,
        "each 16 characters of a poem by Lewis Carroll (1871): x int32 [n, 16], numbers of the 44 "
        "different characters in the order of Unicode; y int32, the character that follows; "
        "shifted int32 [n, 16], x and y one character on",
    ),
    "line": BuiltInSet(_line, "100 points of y = 2 x + 0.5 with noise of deviation 0.2"),
}
