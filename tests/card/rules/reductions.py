"""Sums and searches: NaN, ties, nothing at all, many small numbers, sums in any order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.card.rules.row import LARGE, LARGE_NAN, SMALL, Row, a, f16, f32, i32, inf, nan


def _spread(add: Callable[[], Any]) -> tuple[float, float, int]:
    found = [float(add()) for _ in range(100)]
    return min(found), max(found), len(set(found))


def _jax_top_k(xp: Any, x: Any) -> Any:
    import jax

    return tuple(jax.lax.top_k(x, 3))


def rows() -> dict[str, Row]:
    rows, empty = {}, np.zeros((0,), f32)
    nans = {
        "one": a(1, nan, 3),
        "first": a(nan, 1, nan),
        "all": a(nan, nan),
        "large": LARGE_NAN,
    }
    for name in ("max", "min", "argmax", "argmin"):
        for kind, x in nans.items():
            rows[f"{name} nan {kind}"] = Row(
                (x,),
                lambda xp, x, name=name: getattr(xp, name)(x),
                lambda t, x, name=name: getattr(t, name)(x),
            )
    for name in ("sum", "prod", "max", "min", "mean", "argmax"):
        rows[f"{name} empty"] = Row(
            (empty,),
            lambda xp, x, name=name: getattr(xp, name)(x),
            lambda t, x, name=name: getattr(t, name)(x),
        )
    ties, mixed = a(2, 3, 3, 2), a(2, nan, 3, -inf, inf, nan)
    for kind, x in {"ties": ties, "nan": mixed}.items():
        rows[f"argmax {kind}"] = Row((x,), lambda xp, x: xp.argmax(x), lambda t, x: t.argmax(x))
        rows[f"sort {kind}"] = Row((x,), lambda xp, x: xp.sort(x), lambda t, x: t.sort(x)[0])
        rows[f"argsort {kind}"] = Row((x,), lambda xp, x: xp.argsort(x), lambda t, x: t.argsort(x))
        rows[f"top_k {kind}"] = Row((x,), None, lambda t, x: tuple(t.topk(x, 3)), jax=_jax_top_k)
    half = np.ones(70000, f16)
    rows |= {
        "sum ones float16": Row((half,), lambda xp, x: x.sum(), lambda t, x: x.sum()),
        "sum ones float16 axis 0": Row(
            (np.ones((70000, 2), f16),), lambda xp, x: x.sum(0), lambda t, x: x.sum(0)
        ),
        "sum random float16": Row((SMALL,), lambda xp, x: x.sum(), lambda t, x: x.sum()),
        "mean ones float16": Row((half,), lambda xp, x: x.mean(), lambda t, x: x.mean()),
        "cumsum float16": Row(
            (np.ones(4096, f16),), lambda xp, x: xp.cumsum(x)[-1], lambda t, x: t.cumsum(x, 0)[-1]
        ),
        "sum 0.1 float32": Row(
            (np.full(10**6, 0.1, f32),), lambda xp, x: x.sum(), lambda t, x: x.sum()
        ),
        "cumsum 0.1 float32": Row(
            (np.full(10**5, 0.1, f32),), lambda xp, x: xp.cumsum(x)[-1],
            lambda t, x: t.cumsum(x, 0)[-1],
        ),
        "unique": Row(
            (a(3, 1, 3, 2, d=i32),), lambda xp, x: xp.unique(x), lambda t, x: t.unique(x)
        ),
        "searchsorted nan": Row(
            (a(0, 5, 10), a(nan, 1)), lambda xp, x, y: xp.searchsorted(x, y),
            lambda t, x, y: t.searchsorted(x, y),
        ),
        "bincount negative": Row(
            (a(-1, 1, d=i32),), lambda xp, x: xp.bincount(x), lambda t, x: t.bincount(x)
        ),
        "add at, 100 runs": Row(
            (LARGE,),
            lambda xp, x: _spread(lambda: _all_into_one(xp, x)),
            lambda t, x: _spread(
                lambda: t.zeros_like(x[:1]).index_add(0, t.zeros_like(x, dtype=t.long), x)[0]
            ),
            jax=lambda xp, x: _spread(
                lambda: xp.zeros(1, x.dtype).at[xp.zeros(x.shape, i32)].add(x)[0]
            ),
        ),
    }  # fmt: skip
    return rows


def _all_into_one(xp: Any, x: Any) -> Any:
    total = xp.zeros(1, x.dtype)
    xp.add.at(total, xp.zeros(x.shape, i32), x)
    return total[0]
