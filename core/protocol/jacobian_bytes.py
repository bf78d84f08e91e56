"""The matrices of a Jacobian, from the raw buffers that came with it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import JacobianBlock
from gradstep.core.protocol.tensor_bytes import elements


def matrices(block: JacobianBlock, buffers: Sequence[Buffer]) -> dict[str, np.ndarray]:
    """What there is of "rule", "numeric" and "verdicts", each [m, n]."""
    kinds = {"rule": np.float64, "numeric": np.float64, "verdicts": np.int8}
    shape = tuple(math.prod(each) for each in (block.output_shape, block.input_shape))
    return {
        name: elements(buffers[getattr(block, name)], np.dtype(kind)).reshape(shape)
        for name, kind in kinds.items()
        if getattr(block, name) >= 0
    }
