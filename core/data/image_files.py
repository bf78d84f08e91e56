"""Images in files: how large one is, and its pixels as numbers, as they are stored.

One decoder for the window, the command line and the processes that train, so that all see the same
numbers: Pillow, which is loaded with the first image.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.io.disk.file_bytes import unreadable
from gradstep.core.io.disk.regular_file import RegularFile

if TYPE_CHECKING:
    from PIL.Image import Image

Channels = Literal[1, 3, 4]  # grey, RGB, RGBA

IMAGE_SUFFIXES = (
    ".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".pgm", ".ppm", ".pbm",
)  # fmt: skip
_FORMATS = ("PNG", "JPEG", "BMP", "GIF", "WEBP", "TIFF", "PPM")  # no other of Pillow's readers
_SIGNATURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8", b"II*\0", b"MM\0*")
_MODES: dict[Channels, str] = {1: "L", 3: "RGB", 4: "RGBA"}
_GREY = ("1", "L", "LA", "La")  # of 8 bits, besides those of _WIDE
_WIDE = {
    "I;16": "<u2", "I;16L": "<u2", "I;16B": ">u2", "I": "<i4", "F": "<f4",
}  # fmt: skip
_SHOWN = 80  # characters of what a decoder says


@dataclass(frozen=True)
class ImageHeader:
    """What a file says of its image. name: as it is told to the user; channels: its own, without
    transparency; dtype: of its numbers."""

    path: Path
    name: str
    height: int
    width: int
    channels: Channels
    dtype: np.dtype

    @property
    def size(self) -> tuple[int, int]:
        return self.height, self.width


def is_image(name: str, head: bytes) -> bool:
    """Whether a file that begins with `head` is one, or is called so."""
    if head.startswith(_SIGNATURES) or (head[:4] == b"RIFF" and head[8:12] == b"WEBP"):
        return True
    return name.lower().endswith(IMAGE_SUFFIXES)


def read_header(path: Path, name: str) -> ImageHeader:
    """Without its pixels. Raises GradstepError that names the file."""
    with _opened(path, name) as image:
        width, height = image.size
        grey = image.mode in _GREY or image.mode in _WIDE
        dtype = np.dtype(_WIDE.get(image.mode, "|u1")).newbyteorder("=")
        return ImageHeader(path, name, height, width, 1 if grey else 3, dtype)


def read_pixels(header: ImageHeader, channels: Channels) -> np.ndarray:
    """[height, width, channels] of the header's dtype; uint8 of 0 to 255 in most files. Grey of
    colours is 0.299 R + 0.587 G + 0.114 B; transparency is left out where it is not asked for.
    Raises GradstepError that names the file."""
    with _opened(header.path, header.name) as image:
        if image.mode in _WIDE:
            grey = np.asarray(image).astype(header.dtype)
            pixels = np.repeat(grey[..., np.newaxis], channels, axis=-1)
        else:
            found = np.asarray(image.convert(_MODES[channels]))
            pixels = found.reshape(*found.shape[:2], channels)
    if (*pixels.shape[:2], pixels.dtype) != (*header.size, header.dtype):
        raise _error(f"{header.name} was changed while it was read", "load it again")
    return pixels


@contextmanager
def _opened(path: Path, name: str) -> Iterator[Image]:
    """The image, whose pixels are decoded when they are asked for. Whatever the decoder raises, in
    here or at the caller's, is that the file is damaged."""
    from PIL import Image, UnidentifiedImageError

    try:
        file = RegularFile(path)
    except (OSError, ValueError) as error:
        raise unreadable(name, error) from None
    with file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the caller's budget was asked; metadata may be odd
        try:
            with Image.open(file.from_(0), formats=_FORMATS) as image:
                yield image
        except GradstepError:
            raise
        except UnidentifiedImageError:
            hint = f"images are {', '.join(IMAGE_SUFFIXES)}"
            raise _error(f"{name} is no image, or one that is not known here", hint) from None
        except Image.DecompressionBombError as error:
            raise _error(f"{name} is too large: {_line(error)}", "cut it, or scale it") from None
        except Exception as error:
            text = f"{name} is damaged: {_line(error)}"
            raise _error(text, "save it again, or use another copy of the file") from None


def _line(error: Exception) -> str:
    """What the decoder says, in one line."""
    words = " ".join(str(error).split())
    return words[:_SHOWN] or type(error).__name__


def _error(message: str, hint: str) -> GradstepError:
    return GradstepError(message, kind="FileError", hint=hint)
