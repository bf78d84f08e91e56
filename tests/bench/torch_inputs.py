"""What PyTorch's programs are given, put there again from the host, whatever device they are on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def refilling(*pairs: tuple[Any, np.ndarray]) -> Callable[[], None]:
    """A function that copies each array into its tensor. From memory that is not pinned, as
    arrays of NumPy's are."""
    import torch

    # `data` has a version of its own: no backward pass that is kept takes it for a change.
    found = [(tensor.data, torch.from_numpy(np.ascontiguousarray(x))) for tensor, x in pairs]

    def feed() -> None:
        for tensor, array in found:
            tensor.copy_(array)

    return feed
