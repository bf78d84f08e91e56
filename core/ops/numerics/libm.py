"""The GNU C library's float32 logarithm, sine and cosine, to the last bit.

TensorFlow's normal random numbers are made with them, and NumPy's own differ from them in the
last bit. Source: Arm's optimized routines (logf.c, sincosf.c), which glibc took over in 2.27 and
2.28: polynomials in float64, rounded once at the end.
"""

from __future__ import annotations

import numpy as np

_RECIPROCALS = np.array(
    [
        float.fromhex(text)
        for text in (
            "0x1.661ec79f8f3bep+0 0x1.571ed4aaf883dp+0 0x1.49539f0f010bp+0 0x1.3c995b0b80385p+0 "
            "0x1.30d190c8864a5p+0 0x1.25e227b0b8eap+0 0x1.1bb4a4a1a343fp+0 0x1.12358f08ae5bap+0 "
            "0x1.0953f419900a7p+0 0x1p+0 0x1.e608cfd9a47acp-1 0x1.ca4b31f026aap-1 "
            "0x1.b2036576afce6p-1 0x1.9c2d163a1aa2dp-1 0x1.886e6037841edp-1 0x1.767dcf5534862p-1"
        ).split()
    ]
)
_LOGARITHMS = np.array(
    [
        float.fromhex(text)
        for text in (
            "-0x1.57bf7808caadep-2 -0x1.2bef0a7c06ddbp-2 -0x1.01eae7f513a67p-2 "
            "-0x1.b31d8a68224e9p-3 -0x1.6574f0ac07758p-3 -0x1.1aa2bc79c81p-3 "
            "-0x1.a4e76ce8c0e5ep-4 -0x1.1973c5a611cccp-4 -0x1.252f438e10c1ep-5 0x0p+0 "
            "0x1.aa5aa5df25984p-5 0x1.c5e53aa362eb4p-4 0x1.526e57720db08p-3 0x1.bc2860d22477p-3 "
            "0x1.1058bc8a07ee1p-2 0x1.4043057b6ee09p-2"
        ).split()
    ]
)
_LN2 = float.fromhex("0x1.62e42fefa39efp-1")
_LOG = [
    float.fromhex(text)
    for text in "-0x1.00ea348b88334p-2 0x1.5575b0be00b6ap-2 -0x1.ffffef20a4123p-2".split()
]
_QUARTERS = float.fromhex("0x1.45f306dc9c883p+23")  # 2**24 quarter turns to the radian
_QUARTER = float.fromhex("0x1.921fb54442d18p+0")
_COS = [
    float.fromhex(text)
    for text in (
        "0x1p0 -0x1.ffffffd0c621cp-2 0x1.55553e1068f19p-5 "
        "-0x1.6c087e89a359dp-10 0x1.99343027bf8c3p-16"
    ).split()
]
_SIN = [
    float.fromhex(text)
    for text in "-0x1.555545995a603p-3 0x1.1107605230bc4p-7 -0x1.994eb3774cf24p-13".split()
]


def log(x: np.ndarray) -> np.ndarray:
    """logf of positive normal numbers."""
    bits = x.view(np.uint32)
    offset = (bits - np.uint32(0x3F330000)).view(np.int32)
    place = (offset >> 19) & 15
    mantissa = (bits - (offset & np.int32(-0x800000)).view(np.uint32)).view(np.float32)
    r = mantissa.astype(np.float64) * _RECIPROCALS[place] - 1.0
    start = _LOGARITHMS[place] + (offset >> 23).astype(np.float64) * _LN2
    square = r * r
    y = _LOG[0] * square + (_LOG[1] * r + _LOG[2])
    result: np.ndarray = (y * square + (start + r)).astype(np.float32)
    return result


def sine_and_cosine(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """sincosf of numbers from 0 to 120."""
    wide = x.astype(np.float64)
    quarters = ((wide * _QUARTERS).astype(np.int32) + 0x800000) >> 24
    rest = wide - quarters * _QUARTER
    square = rest * rest
    sine, cosine = _sine(rest, square), _cosine(square)
    odd = quarters & 1 == 1
    sines = np.where(odd, cosine, sine) * np.where(quarters & 2, -1.0, 1.0)
    cosines = np.where(odd, sine, cosine) * np.where((quarters + 1) & 2, -1.0, 1.0)
    return sines.astype(np.float32), cosines.astype(np.float32)


def _sine(x: np.ndarray, square: np.ndarray) -> np.ndarray:
    cube = square * x
    high = _SIN[1] + square * _SIN[2]
    result: np.ndarray = (x + cube * _SIN[0]) + (cube * square) * high
    return result


def _cosine(square: np.ndarray) -> np.ndarray:
    fourth = square * square
    high = _COS[3] + square * _COS[4]
    low = (_COS[0] + square * _COS[1]) + fourth * _COS[2]
    result: np.ndarray = low + (fourth * square) * high
    return result
