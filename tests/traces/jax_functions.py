"""Functions that traces of JAX are recorded of: the forms that programs have, and each rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


@dataclass(frozen=True)
class Case:
    """f(*args), with respect to the arguments at `wrt`."""

    f: Callable[..., Any]
    args: tuple[Any, ...]
    wrt: int | tuple[int, ...] = 0


_DRAWN = np.random.RandomState(3)


def normal(*shape: int, scale: float = 1.0) -> Any:
    return jnp.asarray(_DRAWN.standard_normal(shape) * scale, jnp.float32)


def whole(high: int, *shape: int) -> Any:
    return jnp.asarray(_DRAWN.randint(0, high, shape), jnp.int32)


def cross_entropy(logits: Any, labels: Any) -> Any:
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1)
    return -chosen.mean()


# -- thirteen functions ----------------------------------------------------------------------------


def mlp(params: Any, x: Any, y: Any) -> Any:
    hidden = jax.nn.relu(x @ params["w1"] + params["b1"])
    return cross_entropy(hidden @ params["w2"] + params["b2"], y)


def cnn(params: Any, x: Any, y: Any) -> Any:
    """Two orders of axes, strides, dilation, groups, a transposed convolution, pools."""
    order = ("NHWC", "HWIO", "NHWC")
    h = lax.conv_general_dilated(x, params["k1"], (1, 1), "SAME", dimension_numbers=order)
    h = jax.nn.relu(h)
    h = lax.reduce_window(h, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    h = lax.conv_general_dilated(
        h, params["k2"], (2, 1), [(1, 2), (0, 1)], rhs_dilation=(1, 2), dimension_numbers=order,
        feature_group_count=2,
    )  # fmt: skip
    h = jnp.transpose(h, (0, 3, 1, 2))
    h = lax.conv_transpose(h, params["k3"], (2, 2), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW"))
    h = lax.reduce_window(h, 0.0, lax.add, (1, 1, 2, 2), (1, 1, 1, 1), "SAME") / 4
    return cross_entropy(h.mean((2, 3)) @ params["w"], y)


def attention(params: Any, tokens: Any) -> Any:
    """A layer of a transformer: embedding, layer norm, causal attention of two heads, GELU."""
    x = params["embedding"][tokens] + params["place"][: tokens.shape[1]]

    def norm(x: Any) -> Any:
        mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(var + 1e-5)

    def heads(w: Any) -> Any:
        return jnp.einsum("btd,dhk->bhtk", norm(x), w)

    q, k, v = (heads(params[name]) for name in ("q", "k", "v"))
    scores = jnp.einsum("bhtk,bhsk->bhts", q, k) / jnp.sqrt(q.shape[-1])
    mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9))
    out = jnp.einsum("bhts,bhsk,hkd->btd", weights, v, params["o"])
    with jax.named_scope("feed_forward"):
        h = x + out
        h = h + jax.nn.gelu(norm(h) @ params["w1"]) @ params["w2"]
    logits = h @ params["embedding"].T
    return cross_entropy(logits[:, :-1].reshape(-1, logits.shape[-1]), tokens[:, 1:].reshape(-1))


def rnn(params: Any, xs: Any) -> Any:
    """A scan forwards, and one backwards over what it gave."""

    def cell(h: Any, x: Any) -> Any:
        h = jnp.tanh(h @ params["u"] + x @ params["w"])
        return h, h

    h, hs = lax.scan(cell, jnp.zeros(params["u"].shape[0]), xs)
    g, gs = lax.scan(cell, h, jnp.flip(hs @ params["v"], 1), reverse=True)
    return (g**2).sum() + (gs * hs).mean()


def newton(a: Any, guess: Any) -> Any:
    """A loop of a number of steps that is known: the root of a."""

    def step(i: Any, x: Any) -> Any:
        return 0.5 * (x + a / x) + 0.0 * i

    return lax.fori_loop(0, 3, step, guess).sum()


def branches(x: Any, which: Any) -> Any:
    """Two branches, and one of four."""
    y = lax.cond(x.sum() > 0, lambda v: jnp.sin(v) * 2, lambda v: v**3, x)
    z = lax.switch(which, [lambda v: v, jnp.cos, lambda v: v * v, jnp.exp], x)
    return (y * z).sum()


def linear_algebra(a: Any, b: Any) -> Any:
    positive = a @ a.T + 4 * jnp.eye(a.shape[0])
    x = jnp.linalg.solve(a + 3 * jnp.eye(a.shape[0]), b)
    factor = jnp.linalg.cholesky(positive)
    y = jax.scipy.linalg.solve_triangular(factor, b, lower=True)
    inverse = jnp.linalg.inv(positive)
    return (x * y).sum() + jnp.log(jnp.diag(factor)).sum() + jnp.trace(inverse)


def embedding_bag(table: Any, rows: Any, weights: Any, segments: Any) -> Any:
    """Rows gathered, weighted, and added up where they belong."""
    bags = jnp.zeros((4, table.shape[1])).at[segments].add(table[rows] * weights[:, None])
    bags = bags.at[1, 2:4].set(bags[0, :2]).at[2].multiply(0.5).at[3].max(0.1)
    picked = jax.vmap(lambda row, i: lax.dynamic_slice(row, (i,), (2,)))(bags, segments[:4])
    return (bags**2).sum() + (picked**3).sum()


def variational(params: Any, x: Any, key: Any) -> Any:
    """Numbers that are drawn: noise, dropout, a permutation."""
    noise, drop, order = jax.random.split(key, 3)
    mean, log_var = jnp.split(x @ params["e"], 2, axis=1)
    z = mean + jnp.exp(0.5 * log_var) * jax.random.normal(noise, mean.shape)
    kept = jax.random.bernoulli(drop, 0.7, z.shape)
    z = jnp.where(kept, z / 0.7, 0.0)[jax.random.permutation(order, z.shape[0])]
    kl = -0.5 * jnp.mean(1 + log_var - mean**2 - jnp.exp(log_var))
    return jnp.mean(jnp.abs(jax.nn.sigmoid(z @ params["d"]) - x)) + kl


def ordering(x: Any) -> Any:
    ascending = jnp.sort(x, axis=0)
    largest, places = lax.top_k(x, 2)
    running = jnp.cumsum(ascending, axis=1) + lax.cummax(x, axis=1)
    turned = lax.cumlogsumexp(x, axis=0, reverse=True) + lax.cumprod(x, axis=1)
    by_first = x[jnp.argsort(x[:, 0])]
    return (
        (running * turned).sum() + (largest * places).sum() + (by_first * ascending).sum()
        + jnp.median(x) + x[jnp.argmax(x, 0), jnp.arange(x.shape[1])].sum()
    )  # fmt: skip


def special(x: Any) -> Any:
    """Functions of one number."""
    inside = jnp.tanh(x) * 0.9
    positive = jnp.abs(x) + 0.5
    return sum(
        f(v).sum() for f, v in [
            (lax.erf_inv, inside), (jnp.arcsin, inside), (jnp.arctanh, inside), (lax.erf, x),
            (lax.lgamma, positive), (lax.digamma, positive), (jnp.log1p, positive),
            (jnp.expm1, x), (jnp.sqrt, positive), (lambda v: v ** -3, positive),
            (lambda v: 2.0 ** v, x), (jnp.cbrt, positive), (jax.nn.softplus, x),
            (jax.nn.silu, x), (jax.nn.elu, x), (jnp.arctan, x),
            (lambda v: jnp.mod(v, 0.7), x), (lambda v: jnp.clip(v, -0.5, 0.5), x),
            (jnp.sinc, x), (jnp.floor, x), (lambda v: lax.clamp(-0.3, v, 0.8), x),
            (lambda v: jnp.hypot(v, 1.0), x), (jax.nn.logsumexp, x), (jnp.round, x),
        ]
    )  # fmt: skip


def moving(x: Any, at: Any) -> Any:
    """Elements that go elsewhere: pads with gaps, cuts, rolls, windows, slices that move."""
    wide = lax.pad(x, 0.5, [(1, -1, 2), (-1, 2, 0)])
    turned = jnp.roll(jnp.flip(wide, 0), 2, axis=1)
    window = lax.dynamic_slice(turned, (at, at + 1), (3, 2))
    turned = lax.dynamic_update_slice(turned, window * 2, (at + 2, 0))
    parts = jnp.split(turned, [2, 3], axis=1)
    stacked = jnp.concatenate([p * (i + 1) for i, p in enumerate(parts)], axis=1)
    tiled = jnp.tile(stacked[::2, 1:], (1, 2))
    return (tiled**2).sum() + jnp.kron(x, window).sum() + jnp.triu(x).sum()


def reweighted(x: Any, w: Any) -> Any:
    """stop_gradient, checkpoint, a jit in a vmap, equal numbers in max."""
    base = lax.stop_gradient(x.mean()) * x
    kept = jax.checkpoint(lambda v: jnp.sin(v) * w)(base)
    rows = jax.vmap(jax.jit(lambda row: row / (jnp.linalg.norm(row) + 1.0)))(kept)
    return jnp.maximum(rows, jnp.maximum(rows, 0.0)).sum() + jnp.max(jnp.minimum(x, 0.5))


def thirteen() -> dict[str, Case]:
    labels = whole(3, 5)
    return {
        "mlp": Case(mlp, (
            {"w1": normal(4, 8), "b1": normal(8), "w2": normal(8, 3), "b2": normal(3)},
            normal(5, 4), labels)),
        "cnn": Case(cnn, (
            {"k1": normal(3, 3, 2, 4), "k2": normal(3, 2, 2, 6), "k3": normal(5, 6, 3, 3),
             "w": normal(5, 3)}, normal(5, 6, 6, 2), labels)),
        "attention": Case(attention, (
            {"embedding": normal(7, 6), "place": normal(8, 6), "q": normal(6, 2, 3),
             "k": normal(6, 2, 3), "v": normal(6, 2, 3), "o": normal(2, 3, 6),
             "w1": normal(6, 9), "w2": normal(9, 6)}, whole(7, 2, 5))),
        "rnn": Case(rnn, ({"u": normal(3, 3, scale=0.4), "w": normal(3, 3), "v": normal(3, 3)},
                          normal(4, 3))),
        "newton": Case(newton, (jnp.abs(normal(3)) + 1, 0.2 * jnp.ones(3))),
        "branches": Case(branches, (normal(4), jnp.int32(2))),
        "linear_algebra": Case(linear_algebra, (normal(4, 4), normal(4)), (0, 1)),
        "embedding_bag": Case(embedding_bag, (
            normal(6, 4), whole(6, 7), normal(7), jnp.array([0, 1, 1, 2, 3, 0, 1])), (0, 2)),
        "variational": Case(variational, (
            {"e": normal(4, 6), "d": normal(3, 4)}, jax.nn.sigmoid(normal(5, 4)),
            jax.random.key(4))),
        "ordering": Case(ordering, (normal(5, 3),)),
        "special": Case(special, (normal(7),)),
        "moving": Case(moving, (normal(3, 4), jnp.int32(1))),
        "reweighted": Case(reweighted, (normal(3, 4), normal(4)), (0, 1)),
    }  # fmt: skip
