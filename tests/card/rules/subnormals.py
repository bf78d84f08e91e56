"""One of each class of operations, on float32 numbers below the normal range."""

from __future__ import annotations

import numpy as np

from tests.card.rules.row import TINY, F, Row, a, f16, f32, f64, unary


def rows() -> dict[str, Row]:
    """One of each class of operations, on float32 numbers below the normal range."""
    binary: dict[str, F] = {
        "+ 0": lambda x: x + 0,
        "* 1": lambda x: x * 1,
        "* 2": lambda x: x * 2,
        "/ 1": lambda x: x / 1,
        "1 /": lambda x: 1 / x,
        "> 0": lambda x: x > 0,
        "== 0": lambda x: x == 0,
        "neg": lambda x: -x,
        "abs": abs,
        "sum": lambda x: x.sum(),
        "prod by rows": lambda x: x.reshape(2, 2).prod(1),
        "min": lambda x: x.min(),
        "flip": lambda x: x.reshape(2, 2).T,
    }
    rows = {
        f"subnormal {name}": Row((TINY,), lambda _, x, f=f: f(x), lambda _, x, f=f: f(x))
        for name, f in binary.items()
    }
    for name in ("sqrt", "exp", "log", "tanh", "sin", "expm1", "log1p", "square", "sign"):
        rows[f"subnormal {name}"] = unary(*TINY.tolist())(name)
    rows |= {
        "subnormal maximum": Row(
            (TINY, TINY * 0), lambda xp, x, y: xp.maximum(x, y), lambda t, x, y: t.maximum(x, y)
        ),
        "subnormal where": Row(
            (TINY,), lambda xp, x: xp.where(x == x, x, 1), lambda t, x: t.where(x == x, x, 1)
        ),
        "subnormal product of normals": Row(
            (a(1e-30), a(1e-10)), lambda xp, x, y: x * y, lambda t, x, y: x * y
        ),
        "subnormal exp -100": unary(-90, -100, -103)("exp"),
        "subnormal dot": Row(
            (TINY, a(1, 1, 1, 1)), lambda xp, x, y: x @ y, lambda t, x, y: x @ y
        ),
        "subnormal matmul": Row(
            (np.tile(TINY, (4, 1)), np.eye(4, dtype=f32)),
            lambda xp, x, y: x @ y, lambda t, x, y: x @ y,
        ),
        "subnormal cumsum": Row(
            (TINY,), lambda xp, x: xp.cumsum(x), lambda t, x: t.cumsum(x, 0)
        ),
        "subnormal sort": Row((TINY,), lambda xp, x: xp.sort(x), lambda t, x: t.sort(x)[0]),
        "subnormal to float64": Row(
            (TINY,), lambda xp, x: x.astype(f64), lambda t, x: x.double()
        ),
        "subnormal from float64": Row(
            (TINY.astype(f64),), lambda xp, x: x.astype(f32), lambda t, x: x.float()
        ),
        "subnormal from float64 to float16": Row(
            (a(1e-7, 6e-8, 2e-5, d=f64),), lambda xp, x: x.astype(f16), lambda t, x: x.half()
        ),
        "subnormal float64 * 1": Row(
            (a(1e-310, d=f64),), lambda xp, x: x * 1, lambda t, x: x * 1
        ),
        "subnormal float64 > 0": Row(
            (a(1e-310, d=f64),), lambda xp, x: x > 0, lambda t, x: x > 0
        ),
        "subnormal float16 * 1": Row(
            (a(1e-7, 2e-5, d=f16),), lambda xp, x: x * 1, lambda t, x: x * 1
        ),
    }  # fmt: skip
    return rows
