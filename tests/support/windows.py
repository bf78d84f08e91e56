"""What tests of convolution and pooling share: exact inputs, and one op run by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.interpret import evaluate

STILL = (1, 1, 1, 1)


def numbers(text: str) -> list[float]:
    return [float(word) for word in text.split()]


def pattern(shape: tuple[int, ...], spread: int, dtype: Any = np.float32) -> np.ndarray:
    """Small whole numbers, so that sums are exact in any order."""
    count = np.arange(int(np.prod(shape)))
    return ((count * 7 + 3) % spread - spread // 2).astype(dtype).reshape(shape)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def run(type: str, *inputs: np.ndarray, **attrs: Any) -> np.ndarray:
    builder = GraphBuilder()
    y = builder.one(type, *[builder.constant(x) for x in inputs], **attrs)
    return evaluate(builder.build(), [y.ref])[0]


def explicit(*pads: int) -> dict[str, Any]:
    return {"padding": "EXPLICIT", "explicit_paddings": pads}


def first(image: np.ndarray) -> np.ndarray:
    """The image with its channels second."""
    return np.ascontiguousarray(np.moveaxis(image, -1, 1))
