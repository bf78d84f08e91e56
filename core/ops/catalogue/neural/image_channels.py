"""Images by channel: which axis that is, and vectors of channels lined up with it."""

from __future__ import annotations

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.ops.build.builder import Tensor, call

FORMATS = ("NHWC", "NCHW")
FORMATS_3D = (*FORMATS, "NDHWC", "NCDHW")


def check_size(name: str, found: int | None, channels: int | None, when: str = "") -> None:
    """Raises GradstepError unless a vector of that size has a value for each channel."""
    if None not in (found, channels) and found != channels:
        raise GradstepError(
            f"{when}{name} must have the same number of elements as the channels of x, "
            f"got {found} and {channels}",
            hint="one value for each channel",
        )


def channel_axis(data_format: str, rank: int) -> int:
    return 1 if data_format.startswith("NC") else rank - 1


def other_axes(data_format: str, rank: int) -> tuple[int, ...]:
    """All axes but the channels': those that batch normalization sums over."""
    channel = channel_axis(data_format, rank)
    return tuple(axis for axis in range(rank) if axis != channel)


def align_channels_tensor(vector: Tensor, data_format: str, rank: int) -> Tensor:
    """A vector with a value for each channel, to broadcast against images; no op where the channels
    are last."""
    if channel_axis(data_format, rank) == rank - 1:
        return vector
    return call("Reshape", vector, np.array(_sizes(data_format, rank), np.int32))


def _sizes(data_format: str, rank: int) -> list[int]:
    channel = channel_axis(data_format, rank)
    return [-1 if axis == channel else 1 for axis in range(rank)]
