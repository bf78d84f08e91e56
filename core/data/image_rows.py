"""Images as rows of one array: of one size, in the declared shape, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from pathlib import Path

import numpy as np

from gradstep.core.cancellation import check_cancelled
from gradstep.core.data.image_arrangement import Arrangement, arrange
from gradstep.core.data.image_files import Channels, ImageHeader, read_header, read_pixels
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import Shape
from gradstep.core.io.disk.memory_budget import Budget


def read_images(
    files: Sequence[tuple[Path, str]],
    declared: Shape,
    single: bool,
    check: Callable[[tuple[int, ...]], None],
    budget: Budget,
) -> np.ndarray:
    """The images of `files`, each with its name for the user, as `declared`. single: one that was
    named by itself, so that it may stand without an axis of rows. check: called with the shape
    before a pixel is decoded, to refuse it. Raises GradstepError that names the file."""
    headers = _headers(files)
    found = _arranged(headers, declared, single)
    check(found.shape)
    budget.take(prod(found.shape) * headers[0].dtype.itemsize, _what(headers))
    images = np.empty((len(headers), *headers[0].size, found.channels), headers[0].dtype)
    for place, header in enumerate(headers):
        check_cancelled()
        images[place] = read_pixels(header, found.channels)
    return found.of(images)


def _headers(files: Sequence[tuple[Path, str]]) -> list[ImageHeader]:
    """Raises GradstepError for the first that cannot be in one array with those before."""
    headers: list[ImageHeader] = []
    for path, name in files:
        check_cancelled()
        headers.append(read_header(path, name))
        _require_like(headers[-1], headers[0])
    return headers


def _require_like(image: ImageHeader, first: ImageHeader) -> None:
    if image.size != first.size:
        raise _error(
            f"{image.name} has {_pixels(image)} pixels, and {first.name} {_pixels(first)}",
            "scale them to one size, or name those of one size",
        )
    if image.dtype != first.dtype:
        raise _error(
            f"{image.name} holds {image.dtype.name}, and {first.name} {first.dtype.name}",
            "save them alike",
        )


def _arranged(headers: Sequence[ImageHeader], declared: Shape, single: bool) -> Arrangement:
    own: Channels = 3 if any(image.channels == 3 for image in headers) else 1
    found = arrange(len(headers), headers[0].size, own, declared, single)
    if found is None:
        raise _error(
            f"{headers[0].name} has {_pixels(headers[0])} pixels, which do not fit {declared}",
            "scale the image, or change the shape of the node",
        )
    return found


def _pixels(image: ImageHeader) -> str:
    """Height by width, as shapes have it."""
    return f"{image.height}×{image.width}"


def _what(headers: Sequence[ImageHeader]) -> str:
    return f"the pixels of {len(headers):,} images" if len(headers) > 1 else "its pixels"


def _error(message: str, hint: str) -> GradstepError:
    return GradstepError(message, kind="ValueError", hint=hint)
