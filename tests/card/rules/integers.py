"""Whole numbers: divided by zero, shifted too far, beyond the largest."""

from __future__ import annotations

import numpy as np

from tests.card.rules.row import Row, a, i32, i64


def rows() -> dict[str, Row]:
    rows = {}
    for d in (np.int8, np.uint8, i32, i64):
        name, low = np.dtype(d).name, np.iinfo(d).min
        x, zero = a(1, 0, 7, low, d=d), a(0, 0, 0, 0, d=d)
        rows[f"{name} // 0"] = Row((x, zero), lambda xp, x, y: x // y, lambda t, x, y: x // y)
        rows[f"{name} % 0"] = Row((x, zero), lambda xp, x, y: x % y, lambda t, x, y: x % y)
        bits = 8 * np.dtype(d).itemsize
        by = a(bits - 1, bits, bits + 1, d=d)
        one = a(1, 1, 1, d=d)
        rows[f"{name} <<"] = Row((one, by), lambda xp, x, y: x << y, lambda t, x, y: x << y)
        rows[f"{name} >>"] = Row((~one, by), lambda xp, x, y: x >> y, lambda t, x, y: x >> y)
        if low:
            least = a(low, -7, 7, -7, d=d), a(-1, 2, -2, -2, d=d)
            # The smallest number by -1 ends a process on some processors: PyTorch says so itself.
            rows[f"{name} smallest // -1"] = Row(
                least, lambda xp, x, y: x // y, lambda t, x, y: x // y
            )
            rows[f"{name} -7 % 2"] = Row(least, lambda xp, x, y: x % y, lambda t, x, y: x % y)
            rows[f"{name} 1 << -1"] = Row(
                (one, -one), lambda xp, x, y: x << y, lambda t, x, y: x << y
            )
            rows[f"abs {name}"] = Row((least[0],), lambda xp, x: abs(x), lambda t, x: abs(x))
            rows[f"{name} ** -1"] = Row(
                (a(0, 1, 2, -1, d=d), -a(1, 1, 1, 1, d=d)),
                lambda xp, x, y: x**y,
                lambda t, x, y: x**y,
            )
    top = a(2**31 - 1, d=i32), a(1, d=i32)
    rows["int32 overflow"] = Row(top, lambda xp, x, y: x + y, lambda t, x, y: x + y)
    return rows
