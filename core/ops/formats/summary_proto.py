"""The bytes of a Summary: values one after another, each under its tag.

Fields and numbers are those of tensorflow/core/framework/summary.proto (Apache 2.0).
"""

from __future__ import annotations

import numpy as np

from gradstep.core.ops.formats.protobuf import bytes_field, float_field

VALUE = 1  # field of a Summary
TAG, _SIMPLE_VALUE, _IMAGE, _HISTO = 1, 2, 4, 5  # fields of a value


def number(tag: bytes, value: float) -> bytes:
    """A scalar, which is kept as float32."""
    with np.errstate(over="ignore"):
        return _value(tag, float_field(_SIMPLE_VALUE, float(np.float32(value))))


def image(tag: bytes, content: bytes) -> bytes:
    """A picture; content: its message."""
    return _value(tag, bytes_field(_IMAGE, content))


def histogram(tag: bytes, content: bytes) -> bytes:
    """How numbers are spread; content: the HistogramProto."""
    return _value(tag, bytes_field(_HISTO, content))


def _value(tag: bytes, content: bytes) -> bytes:
    return bytes_field(VALUE, (bytes_field(TAG, tag) if tag else b"") + content)
