"""Transforms of images that each epoch draws anew for each row: `crop(28, 28, 2)`, `flip()`.

What is drawn for a row hangs on seed, epoch and row alone, so that a batch is the same whichever
way it is come to; and all columns see the same, so that an image and its mask stay alike. Rows that
nothing is trained on are cut in the middle, and not turned round.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.ops.numerics.philox import blocks_at

_EPOCHS = 1 << 62  # numbers of Philox's streams from here on, which no order of rows has
_CHANNELS = 4  # at most, of an image


def row_draws(rows: np.ndarray, seed: int, epoch: int) -> np.ndarray:
    """Four numbers for each of `rows` (int64 [n]) in an epoch, uint32 [n, 4]."""
    return blocks_at((seed % 2**64, _EPOCHS + epoch), rows.astype(np.uint64))


@dataclass(frozen=True)
class Crop:
    """A window of this size of each image, with so many zeros put round it before."""

    height: int
    width: int
    padding: int = 0

    def __call__(self, rows: np.ndarray, draws: np.ndarray | None = None) -> np.ndarray:
        """draws: as row_draws has them; None for windows in the middle. Raises GradstepError."""
        first = image_axis(rows)
        padded = self._padded(rows, first)
        spare = [padded.shape[first] - self.height, padded.shape[first + 1] - self.width]
        if min(spare) < 0:
            found = " by ".join(str(rows.shape[first + i]) for i in (0, 1))
            raise _misfit(f"crop({self.height}, {self.width})", f"images of {found}")
        size = [*rows.shape]
        size[first : first + 2] = self.height, self.width
        made = np.empty(size, rows.dtype)
        for row, (top, left) in enumerate(self._corners(len(rows), spare, draws)):
            window = [slice(None)] * (rows.ndim - 1)
            window[first - 1] = slice(top, top + self.height)
            window[first] = slice(left, left + self.width)
            made[row] = padded[row][tuple(window)]
        return made

    def _padded(self, rows: np.ndarray, first: int) -> np.ndarray:
        if not self.padding:
            return rows
        around = [(0, 0)] * rows.ndim
        around[first] = around[first + 1] = (self.padding, self.padding)
        return np.pad(rows, around)

    def _corners(self, count: int, spare: list[int], draws: np.ndarray | None) -> list[list[int]]:
        """Top and left of each window."""
        if draws is None:
            return [[s // 2 for s in spare]] * count
        places = draws[:, :2].astype(np.uint64) * (np.array(spare, np.uint64) + np.uint64(1))
        found: list[list[int]] = (places >> np.uint64(32)).tolist()
        return found


@dataclass(frozen=True)
class Flip:
    """Left and right change places in every other image."""

    def __call__(self, rows: np.ndarray, draws: np.ndarray | None = None) -> np.ndarray:
        """draws: as row_draws has them; None for images as they are. Raises GradstepError."""
        width = image_axis(rows) + 1
        if draws is None:
            return rows
        turned = (draws[:, 2] >> np.uint32(31)).astype(bool)
        made = rows.copy()
        made[turned] = np.flip(rows[turned], width)
        return made


Drawn = Crop | Flip


def image_axis(rows: np.ndarray) -> int:
    """Which axis of rows is the height of images; the width follows it. Raises GradstepError."""
    if rows.ndim == 3:
        return 1
    if rows.ndim != 4:
        raise _misfit("crop and flip", f"rows of {rows.ndim - 1} axes")
    return 2 if rows.shape[1] <= _CHANNELS < rows.shape[3] else 1


def _misfit(what: str, found: str) -> GradstepError:
    return GradstepError(
        f"{what}: these are {found}",
        kind="ValueError",
        hint="it takes rows [height, width], [height, width, channels] or [channels, height, width]"
        ", and no window larger than they are, padding counted",
    )
