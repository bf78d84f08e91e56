"""A slice in NumPy's syntax, read without eval: `[0, :, 3:10, ::2]`, `...`, negative indices."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError

_NUMBER = re.compile(r"[+-]?\d{1,18}")
_HINT = "for example [0, :, 3:10, ::2], [..., -1] or [:]"
Pick = int | range


@dataclass(frozen=True, slots=True)
class Picks:
    """What of a tensor of `shape` is looked at: for each axis one index, from 0 up, or a range."""

    shape: tuple[int, ...]
    picks: tuple[Pick, ...]

    @property
    def kept(self) -> tuple[int, ...]:
        """The axes that the slice still has."""
        return tuple(axis for axis, pick in enumerate(self.picks) if isinstance(pick, range))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The slice's own shape."""
        return tuple(len(pick) for pick in self.picks if isinstance(pick, range))

    @property
    def size(self) -> int:
        """How many elements it has."""
        return prod(self.sizes)

    @property
    def is_whole(self) -> bool:
        return self.picks == all_of(self.shape).picks

    @property
    def text(self) -> str:
        """As it is written: "[0, :, 3:10]"."""
        parts = zip(self.picks, self.shape, strict=True)
        return f"[{', '.join(_written(pick, size) for pick, size in parts)}]"

    def apply(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """That part of the tensor, as a view."""
        return array[(*map(_as_index, self.picks), ...)]

    def index_of(self, position: Sequence[int]) -> tuple[int, ...]:
        """Where an element of the slice lies in the tensor."""
        left = iter(position)
        return tuple(pick if isinstance(pick, int) else pick[next(left)] for pick in self.picks)

    def position_of(self, index: Sequence[int]) -> tuple[int, ...] | None:
        """Where an element of the tensor lies in the slice; None where it does not."""
        if len(index) != len(self.picks):
            return None
        found: list[int] = []
        for pick, at in zip(self.picks, index, strict=True):
            if isinstance(pick, range) and at in pick:
                found.append(pick.index(at))
            elif pick != at:
                return None
        return tuple(found)


def all_of(shape: Sequence[int]) -> Picks:
    """The whole tensor."""
    return Picks(tuple(shape), tuple(map(range, shape)))


def parse_slice(text: str, shape: Sequence[int]) -> Picks:
    """What `text` picks of a tensor of `shape`, with or without brackets; "" is all of it. Raises
    GradstepError (IndexError), which says what of it is wrong, for what NumPy would refuse, and for
    what it would take in another sense: masks, lists of indices, new axes."""
    inner = text.strip()
    if inner.startswith("[") != inner.endswith("]"):
        raise _wrong(f"'{text.strip()}' lacks a bracket")
    inner = inner.removeprefix("[").removesuffix("]").strip()
    parts = _filled([part.strip() for part in inner.split(",")] if inner else [], shape)
    picks = [_pick(part, axis, size) for axis, (part, size) in enumerate(zip(parts, shape))]  # noqa: B905
    return Picks(tuple(shape), tuple(picks))


def _filled(parts: list[str], shape: Sequence[int]) -> list[str]:
    """One for each axis: what is left out is all of it."""
    if parts and not parts[-1]:
        parts = parts[:-1]  # [0,] is [0]
    if parts.count("...") > 1:
        raise _wrong("'...' may stand in a slice once")
    given = [part for part in parts if part != "..."]
    if len(given) > len(shape):
        axes = f"{len(shape)} {'axis' if len(shape) == 1 else 'axes'}"
        raise _wrong(f"{len(given)} indices for a tensor with {axes}, of shape {[*shape]}")
    at = parts.index("...") if "..." in parts else len(parts)
    rest = [":"] * (len(shape) - len(given))
    return [*parts[:at], *rest, *parts[at + 1 :]]


def _pick(part: str, axis: int, size: int) -> Pick:
    if ":" not in part:
        return _index(part, axis, size)
    bounds = [piece.strip() for piece in part.split(":")]
    if len(bounds) > 3:
        raise _wrong(f"'{part}' on axis {axis} has more than start:stop:step")
    start, stop, step = (_number(piece, part, axis) for piece in (*bounds, "")[:3])
    if step == 0:
        raise _wrong(f"'{part}' on axis {axis} has a step of 0")
    return range(*slice(start, stop, step).indices(size))


def _index(part: str, axis: int, size: int) -> int:
    index = _number(part, part, axis)
    if index is None:
        raise _wrong(f"nothing is said of axis {axis}; ':' is all of it")
    if not -size <= index < size:
        there = f"has {size} elements, 0 to {size - 1}" if size else "is empty"
        raise _wrong(f"{index} is out of range: axis {axis} {there}")
    return index % size


def _number(piece: str, part: str, axis: int) -> int | None:
    if not piece:
        return None
    if not _NUMBER.fullmatch(piece):
        raise _wrong(f"'{part}' on axis {axis} is no index")
    return int(piece)


def _wrong(what: str) -> GradstepError:
    return GradstepError(what, kind="IndexError", hint=_HINT)


def _written(pick: Pick, size: int) -> str:
    if isinstance(pick, int):
        return str(pick)
    if pick == range(size):
        return ":"
    step = "" if pick.step == 1 else f":{pick.step}"
    if not len(pick):
        return "0:0"
    start = "" if pick.start == (0 if pick.step > 0 else size - 1) else str(pick.start)
    last = pick.stop >= size if pick.step > 0 else pick.stop < 0
    return f"{start}:{'' if last else pick.stop}{step}"


def _as_index(pick: Pick) -> int | slice:
    if isinstance(pick, int):
        return pick
    if not pick:  # an end below 0 would be one from behind: all of it
        return slice(0, 0)
    return slice(pick.start, None if pick.stop < 0 else pick.stop, pick.step)
