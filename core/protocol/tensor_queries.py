"""What the tensor panel asks: rectangles, pictures, curves, statistics, elements, histories, files.

Part of the messages; see messages.py. What comes back has as many elements as are shown, however
many the tensor has.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gradstep.core.protocol.message_base import Glance, Question, Reply, Request
from gradstep.core.protocol.message_parts import Stats
from gradstep.core.protocol.vocabulary import HistoryKind


class OtherTensor(msgspec.Struct, frozen=True, kw_only=True):
    """What a tensor is held against. ref: another one, "" for the same; session: by its name, ""
    for the one that is shown; run, step: -1 for those of what is held against it, or where that
    other session stands; earlier: so many runs before. recorded: what another framework computed
    of it. branch: of the session that is shown, by its name, at the same run and step where none
    are named."""

    ref: str = ""
    session: str = ""
    run: int = -1
    step: int = -1
    earlier: int = 0
    recorded: bool = False
    branch: str = ""


class TensorSlice(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked at of a tensor, as of a step (-1: where the debugger stands). index: in
    NumPy's syntax, "" for all; axes: those that it keeps, by their numbers among these, in the
    order in which they are shown; none: as they are. minus: what is taken away from it, element by
    element."""

    ref: str
    run: int = -1
    step: int = -1
    index: str = ""
    axes: list[int] = []
    minus: OtherTensor | None = None


class ReadTable(Glance, frozen=True, kw_only=True):
    """A rectangle of a slice: its last axis across, all others down. Replied to with Table."""

    of: TensorSlice
    row: int = 0
    rows: int
    column: int = 0
    columns: int


class Table(Reply, frozen=True, kw_only=True):
    """What there is of the rectangle, in raw buffer 0, row-major."""

    dtype: str
    row: int
    rows: int
    column: int
    columns: int


class DrawTensor(Question, frozen=True, kw_only=True):
    """A slice as pictures: its last two axes, before those of the channels if it has `channels`; of
    the axes before them `planes` indices from `first` on. Each has at most so many cells down and
    across. Replied to with TensorPicture.

    mean: a cell of several elements is their mean, else the one of the largest modulus."""

    of: TensorSlice
    first: int = 0
    planes: int = 1
    height: int
    width: int
    channels: bool = False
    mean: bool = False


class TensorPicture(Reply, frozen=True, kw_only=True):
    """Raw buffer 0: float64[planes, height, width(, channels)], NaN where no element is finite; 1:
    uint8 of the same shape: 1 for cells with a NaN, 2 and 3 with a positive or negative infinity, 4
    of nothing but zeros. total: planes that there are; block: elements of a cell, down and across;
    least, most: of the finite elements of the whole slice, None where there are none."""

    shape: list[int]
    first: int
    total: int
    block: tuple[int, int]
    least: float | None = None
    most: float | None = None


class DrawLines(Question, frozen=True, kw_only=True):
    """The rows of a slice's table as lines of at most `width` points: of each the smallest and the
    largest element. Replied to with TensorLines."""

    of: TensorSlice
    first: int = 0
    lines: int = 8
    width: int


class TensorLines(Reply, frozen=True, kw_only=True):
    """Raw buffers 0 and 1: float64[lines, points] of the smallest and the largest finite elements;
    2: uint8, kinds as of TensorPicture. length: elements of a line; block: those of a point."""

    lines: int
    total: int
    length: int
    block: int


class DescribeTensor(Question, frozen=True, kw_only=True):
    """Statistics of a slice. Replied to with TensorStatistics."""

    of: TensorSlice
    percents: Sequence[float] = ()
    bins: int = 0


class TensorStatistics(Reply, frozen=True, kw_only=True):
    """Of the finite elements, but for `size` and the counts of `stats`. histogram: counts in equal
    parts of the range from the smallest to the largest."""

    size: int
    stats: Stats
    deviation: float | None = None
    percentiles: Sequence[float] = ()
    histogram: Sequence[int] = ()


class FindElement(Question, frozen=True, kw_only=True):
    """The first element after number `start` (row-major, of the slice as it is shown), or before
    it, for which a condition holds; "min" and "max" are conditions, too. Replied to with
    FoundElement."""

    of: TensorSlice
    condition: str
    start: int = -1
    forward: bool = True


class FoundElement(Reply, frozen=True, kw_only=True):
    """position: -1 where there is none; number: which of `count` it is, from 1."""

    position: int = -1
    number: int = 0
    count: int = 0


class ReadHistory(Question, frozen=True, kw_only=True):
    """One number of a slice over the recorded steps, as far as it is known without running much
    again: "element" (its first), or a statistic by its name in Stats. points: at most so many.
    Replied to with History."""

    of: TensorSlice
    what: HistoryKind
    points: int = 512


class History(Reply, frozen=True, kw_only=True):
    """Where the tensor had which number, in the order in which it got them: once `steps[i]` steps
    of run `runs[i]` were done; None for no finite number. length: steps of a run; total: runs that
    there are, of which `seen` were looked at."""

    runs: Sequence[int] = ()
    steps: Sequence[int] = ()
    values: Sequence[float | None] = ()
    length: int = 0
    total: int = 0
    seen: int = 0


class SaveTensor(Request, frozen=True, kw_only=True):
    """Write a slice to a file; without a path, hand over what would be in it. format: ".npy",
    ".npz", ".csv", or "text", as NumPy prints it. Replied to with SavedTensor."""

    outlives = True

    of: TensorSlice
    path: str = ""
    format: str


class SavedTensor(Reply, frozen=True, kw_only=True):
    """size: bytes of the file; they are raw buffer 0 where no path was given."""

    size: int
