"""What the window asks about a classifier: which rows it gets wrong, and as what.

Part of the messages; see messages.py.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from gradstep.core.protocol.message_base import Event, Question, Reply

RowShare = Literal["held", "trained", "test", "fed"]


class Classify(Question, frozen=True, kw_only=True):
    """What does the network say of the rows, with the variables as they are where the debugger
    stands? Replied to with Classified. share: of the data, the rows that are held back, those
    that are trained on, or those to test on; worst: at most so many rows with the largest loss, of
    those that are of class `actual` and were taken for `taken`; -1 for any."""

    share: RowShare = "held"
    worst: int = 24
    actual: int = -1
    taken: int = -1


class WorstRow(msgspec.Struct, frozen=True, kw_only=True):
    """row: its number, from 0; loss: NaN and infinity are sent as such. taken: the class that the
    network says, -1 where its output is not finite; cells: the row's numbers in a few words."""

    row: int
    loss: float
    actual: int
    taken: int
    cells: str = ""


class SurfaceDrawn(Event, frozen=True, kw_only=True):
    """What a classifier of two inputs says of the points of a square grid, with the variables as a
    run left them. bounds: left, right, bottom, top; side: points across and down; classes: uint8,
    row after row from the top; sure: uint8, 255 times the probability of that class."""

    run: int
    side: int
    bounds: list[float]
    classes: bytes
    sure: bytes


class PlacedRow(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """A row of two numbers, x and y: its number, its class, and the one that it was taken for."""

    row: int
    x: float
    y: float
    actual: int
    taken: int


class Classified(Reply, frozen=True, kw_only=True):
    """share: which rows these are: "fed" where there is no data, and every run is fed the same;
    counted, total: how many of them were looked at; right: how many were taken for what they are;
    broken: of how many the output is not finite; loss: the mean.
    classes: which the matrix has, all or those that are confused most, of `known`; names: of all,
    none where they have none. matrix: how many rows of the class across from it (down) were taken
    for the one above it (across), row-major.
    worst: the rows with the largest loss, of `found` that were asked for. picture: height, width
    and channels, for rows that are images; their pixels, uint8, are raw buffer 0. input:
    the tensor that a row is fed to, "" for none. surface: where a row is two numbers; points:
    some rows on it, those with the largest loss among them.
    """

    share: RowShare
    counted: int
    total: int
    right: int
    broken: int
    loss: float
    classes: list[int]
    known: int
    names: list[str] = []
    matrix: list[int]
    worst: list[WorstRow] = []
    found: int = 0
    picture: list[int] = []
    input: str = ""
    surface: SurfaceDrawn | None = None
    points: list[PlacedRow] = []
