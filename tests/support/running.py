"""Running one op: where nothing is known of its inputs before, and where they are constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.dtypes import UNKNOWN, DType
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.declare.system_rules import TF_CPU, Rules


def ints(*values: Any) -> np.ndarray:
    return np.array(values, np.int32)


def floats(*values: Any) -> np.ndarray:
    return np.array(values, np.float32)


def counted(*shape: int) -> np.ndarray:
    """1, 2, 3, …"""
    return np.arange(1, np.prod(shape) + 1, dtype=np.float32).reshape(shape)


def fed(
    type: str, inputs: Sequence[Any], attrs: dict[str, Any], rules: Rules = TF_CPU
) -> list[np.ndarray]:
    """The op's results on placeholders of which nothing is known before running."""
    builder, feeds, tensors = GraphBuilder(), {}, []
    for index, value in enumerate(np.asarray(x) for x in inputs):
        tensors.append(builder.placeholder(f"in{index}", DType.of(value.dtype), UNKNOWN))
        feeds[f"in{index}"] = value
    outputs = builder.op(type, *tensors, **attrs)
    session = Session(builder.build(), NumpyBackend(rules))
    return session.run([y.ref for y in outputs], feeds)


def drawn(type: str, inputs: Sequence[Any], attrs: dict[str, Any]) -> list[np.ndarray]:
    """The op's results on constants."""
    builder = GraphBuilder()
    tensors = [builder.constant(np.asarray(x)) for x in inputs]
    outputs = builder.op(type, *tensors, **attrs)
    return Session(builder.build()).run([y.ref for y in outputs])
