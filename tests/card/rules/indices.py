"""Indices outside of their dimension: read, written, added to, as labels and classes."""

from __future__ import annotations

from typing import Any

from tests.card.rules.row import P2, P, Row, a, f32, i32, i64, jax_nn


def _set(xp: Any, p: Any, i: Any) -> Any:
    q = p.copy()
    q[i] = 99
    return q


def _add_at(xp: Any, p: Any, i: Any) -> Any:
    q = p.copy()
    xp.add.at(q, i, xp.asarray(1, p.dtype))
    return q


def _jax_one_hot(xp: Any, i: Any) -> Any:
    return jax_nn().one_hot(i, 3)


def _jax_segment_sum(xp: Any, p: Any, i: Any) -> Any:
    import jax

    return jax.ops.segment_sum(p, i, 3)


def _jax_cross_entropy(xp: Any, p: Any, i: Any) -> Any:
    return -jax_nn().log_softmax(p)[xp.arange(1), i]


def _torch_one_hot(t: Any, i: Any) -> Any:
    return t.nn.functional.one_hot(i.long(), 3)


def rows() -> dict[str, Row]:
    rows = {}
    for at in (3, -1, -4):
        i, i2 = a(0, at, d=i32), a(0, at, d=i64).reshape(1, 2)
        rows |= {
            f"index {at}": Row((P, i), lambda xp, p, i: p[i], lambda t, p, i: p[i.long()]),
            f"take {at}": Row(
                (P, i), lambda xp, p, i: xp.take(p, i), lambda t, p, i: t.take(p, i.long())
            ),
            f"take_along_axis {at}": Row(
                (P2, i2),
                lambda xp, p, i: xp.take_along_axis(p, i, 1),
                lambda t, p, i: t.take_along_dim(p, i, 1),
            ),
            f"gather {at}": Row((P2, i2), None, lambda t, p, i: t.gather(p, 1, i)),
            f"index_select {at}": Row((P, i), None, lambda t, p, i: t.index_select(p, 0, i)),
            f"embedding {at}": Row(
                (P.reshape(3, 1), i),
                None,
                lambda t, p, i: t.nn.functional.embedding(i.long(), p),
            ),
            f"set {at}": Row(
                (P, i), _set, lambda t, p, i: p.index_put((i.long(),), t.full_like(p[:1], 99)),
                jax=lambda xp, p, i: p.at[i].set(99),
            ),
            f"add at {at}": Row(
                (P, i), _add_at,
                lambda t, p, i: p.clone().index_put((i.long(),), t.ones_like(p[:1]), True),
                jax=lambda xp, p, i: p.at[i].add(1),
            ),
            f"index_add {at}": Row((P, i), None, lambda t, p, i: p.index_add(0, i, p[:2])),
            f"scatter_add {at}": Row(
                (P2, i2), None, lambda t, p, i: p.scatter_add(1, i, p[:, :2])
            ),
            f"one_hot {at}": Row(
                (i,), lambda xp, i: xp.eye(3, dtype=f32)[i], _torch_one_hot, jax=_jax_one_hot
            ),
            f"segment_sum {at}": Row((P, a(0, at, 1, d=i32)), None, None, jax=_jax_segment_sum),
            f"cross_entropy {at}": Row(
                (P2, a(at, d=i32)),
                None,
                lambda t, p, i: t.nn.functional.cross_entropy(p, i.long(), reduction="none"),
                jax=_jax_cross_entropy,
            ),
        }  # fmt: skip
    return rows
