"""CRC-32C of short and of long data is that which is made bit by bit, wherever it is parted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.io.byte_checksum import short_advance
from gradstep.core.io.checksum import crc32c, masked
from gradstep.core.io.lane_checksum import advance


def test_it_is_the_known_one() -> None:
    """RFC 3720, B.4; and as TensorFlow masks it."""
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(bytes(range(32))) == 0x46DD794E
    assert masked(0) == 0xA282EAD8


@given(st.integers(0, 1500), st.integers(0, (1 << 32) - 1), st.integers(0, 1 << 32))
def test_lanes_come_to_the_same(size: int, state: int, seed: int) -> None:
    data = np.random.default_rng(seed).bytes(size)
    assert advance(state, data) == short_advance(state, data)


@pytest.mark.parametrize("size", [(4 << 20) + 3, (4 << 20) + 4, 40_000])
def test_parts_come_to_the_whole(size: int) -> None:
    data = np.random.default_rng(size).bytes(size)
    whole = crc32c(data)
    for at in (1, size // 2, size - 1):
        assert crc32c(memoryview(data)[at:], crc32c(data[:at])) == whole
