"""CRC-32C of long data by NumPy: lanes of it side by side, then put together.

The state of a checksum is linear over GF(2): behind `a` and `b` it is that of `a`, advanced over as
many zeros as `b` has bytes, plus that of `b` alone. Zeros before the data change nothing of a state
of zero, so the first lane is filled up with them.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from gradstep.core.io.byte_checksum import Bytes, byte_table, short_advance

_LANE = 256  # bytes
_STATE = 4  # bytes
_PIECE = 4 << 20  # bytes that are looked at together
_Words = np.ndarray[tuple[int, ...], np.dtype[np.uint32]]


def advance(state: int, data: Bytes) -> int:
    """The state behind `data` from the one before."""
    flat = np.frombuffer(data, np.uint8)
    for start in range(0, len(flat), _PIECE):
        piece = flat[start : start + _PIECE]
        if len(piece) < _STATE:  # which is not enough to add a state to
            return short_advance(state, piece.tobytes())
        state = _over(state, piece)
    return state


def _over(state: int, piece: np.ndarray) -> int:
    """`advance` of one piece: from zero, with the state before added to its first bytes."""
    lanes = 1 << (-(-len(piece) // _LANE) - 1).bit_length()
    filled = np.zeros(lanes * _LANE, np.uint8)
    start = len(filled) - len(piece)
    filled[start:] = piece
    filled[start : start + _STATE] ^= np.frombuffer(state.to_bytes(_STATE, "little"), np.uint8)
    return _joined(_of_lanes(filled.view("<u4").reshape(lanes, -1)))


def _of_lanes(words: np.ndarray) -> _Words:
    """The state behind each row, from zero."""
    low, high = _word_tables()
    states: _Words = np.zeros(len(words), "<u4")
    for column in np.ascontiguousarray(words.T):
        states ^= column
        halves = states.view("<u2")
        states = low.take(halves[::2]) ^ high.take(halves[1::2])
    return states


def _joined(states: _Words) -> int:
    """The state behind all lanes, of which there are a power of two."""
    zeros = _lane_of_zeros()
    while len(states) > 1:
        states = _applied(zeros, states[::2]) ^ states[1::2]
        zeros = _applied(zeros, zeros)
    return int(states[0])


def _applied(matrix: _Words, states: _Words) -> _Words:
    """matrix: what each bit of a state becomes."""
    found = np.zeros_like(states)
    for bit, image in enumerate(matrix):
        found ^= np.where(states >> np.uint32(bit) & np.uint32(1), image, np.uint32(0))
    return found


@cache
def _lane_of_zeros() -> _Words:
    """What a lane of zeros does to each bit of a state."""
    bits = np.uint32(1) << np.arange(32, dtype=np.uint32)
    table = np.array(byte_table(), np.uint32)
    matrix: _Words = table[bits & 0xFF] ^ bits >> np.uint32(8)
    for _ in range(_LANE.bit_length() - 1):
        matrix = _applied(matrix, matrix)
    return matrix


@cache
def _word_tables() -> tuple[_Words, _Words]:
    """What the lower and the upper half of a word do to a state of zero, in four bytes."""
    table = np.array(byte_table(), "<u4")
    halves = np.arange(1 << 16, dtype=np.uint32)
    return _four_bytes(table, halves), _four_bytes(table, halves << np.uint32(16))


def _four_bytes(table: _Words, states: _Words) -> _Words:
    found = states
    for _ in range(4):
        found = table[found & 0xFF] ^ found >> np.uint32(8)
    return found
