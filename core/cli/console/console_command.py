"""A command of the console: its names, what `help` says of it, and what does it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from gradstep.core.cli.console.console import Console


PictureKind = Literal["line", "matrix", "image"]


@dataclass(frozen=True, eq=False)
class Picture:
    """kind: "line", "matrix" or "image". values: float64[rows, columns(, channels)], NaN where
    nothing is finite; kinds: uint8 of the same shape, as of TensorPicture; dtype: of the elements.
    """

    kind: PictureKind
    values: np.ndarray
    kinds: np.ndarray
    dtype: str


@dataclass(frozen=True)
class Reply:
    """What a command did: text for people, fields for JSON, whether to leave, and what a window
    draws below the text."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    quit: bool = False
    picture: Picture | None = None


@dataclass(frozen=True)
class ConsoleCommand:
    """run: gets the console, and what stands behind the name. aliases: other names; `help` shows
    the first. repeats: whether an empty line does it once more. alone: whether nothing may stand
    behind the name."""

    name: str
    run: Callable[[Console, str], Reply]
    help: str
    aliases: tuple[str, ...] = ()
    repeats: bool = False
    alone: bool = False

    @property
    def short(self) -> str:
        """The alias that `help` shows; "" without one."""
        return self.aliases[0] if self.aliases else ""
