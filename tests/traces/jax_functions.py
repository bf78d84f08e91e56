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
    h = lax.conv_transpose(
        h, params["k3"], (2, 2), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW")
    )
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


# -- networks --------------------------------------------------------------------------------------


def flax_net() -> Case:
    """Convolution, batch norm, pooling, dropout, layers; each module is a scope."""
    from flax import linen as nn

    class Block(nn.Module):
        features: int

        @nn.compact
        def __call__(self, x: Any) -> Any:
            h = nn.BatchNorm(use_running_average=False)(nn.Conv(self.features, (3, 3))(x))
            return nn.relu(h) + nn.Conv(self.features, (1, 1))(x)

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            x = nn.max_pool(Block(4)(x), (2, 2), (2, 2))
            x = nn.avg_pool(nn.GroupNorm(2)(Block(6)(x)), (2, 2), (1, 1), "SAME")
            x = nn.Dropout(0.3, deterministic=False)(x.reshape(x.shape[0], -1))
            return nn.Dense(3)(nn.gelu(nn.LayerNorm()(nn.Dense(5)(x))))

    net, x, labels = Net(), normal(4, 6, 6, 2), whole(3, 4)
    variables = net.init({"params": jax.random.key(1), "dropout": jax.random.key(2)}, x)

    def loss(params: Any, state: Any, x: Any, labels: Any, key: Any) -> Any:
        logits, moved = net.apply(
            {"params": params, "batch_stats": state}, x, mutable=["batch_stats"],
            rngs={"dropout": key},
        )  # fmt: skip
        return cross_entropy(logits, labels), moved["batch_stats"]

    key = jax.random.key(3)
    return Case(loss, (variables["params"], variables["batch_stats"], x, labels, key))


def flax_lstm() -> Case:
    """An LSTM of flax over rows, and attention."""
    from flax import linen as nn

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            h = nn.RNN(nn.OptimizedLSTMCell(5))(x)
            h = h + nn.MultiHeadDotProductAttention(num_heads=1, qkv_features=5)(h)
            return nn.Dense(3)(h.mean(1))

    net, x, labels = Net(), normal(2, 4, 3), whole(3, 2)
    params = net.init(jax.random.key(1), x)

    def loss(params: Any, x: Any, labels: Any) -> Any:
        return cross_entropy(net.apply(params, x), labels)

    return Case(loss, (params, x, labels))


def flax_nnx() -> Case:
    from flax import nnx

    class Net(nnx.Module):
        def __init__(self, rngs: Any) -> None:
            self.first, self.last = nnx.Linear(4, 6, rngs=rngs), nnx.Linear(6, 3, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            return self.last(nnx.swish(self.first(x)))

    graph, state = nnx.split(Net(nnx.Rngs(0)))

    def loss(state: Any, x: Any, labels: Any) -> Any:
        return cross_entropy(nnx.merge(graph, state)(x), labels)

    return Case(loss, (state, normal(5, 4), whole(3, 5)))


def equinox_net() -> Case:
    """Layers called by vmap; one of them twice; what is no array stays as it is."""
    import equinox as eqx

    class Net(eqx.Module):
        conv: Any
        layers: list[Any]
        norm: Any
        activation: Any

        def __init__(self, key: Any) -> None:
            a, b, c = jax.random.split(key, 3)
            self.conv = eqx.nn.Conv1d(2, 4, 3, key=a)
            self.layers = [eqx.nn.Linear(4, 4, key=b), eqx.nn.MLP(4, 3, 5, 2, key=c)]
            self.norm, self.activation = eqx.nn.LayerNorm(4), jax.nn.tanh

        def __call__(self, x: Any) -> Any:
            h = self.activation(self.conv(x)).mean(1)
            h = self.layers[0](self.norm(self.layers[0](h)))
            return self.layers[1](h)

    def loss(net: Any, x: Any, labels: Any) -> Any:
        return cross_entropy(jax.vmap(net)(x), labels)

    return Case(loss, (Net(jax.random.key(0)), normal(4, 2, 7), whole(3, 4)))


def equinox_gru() -> Case:
    """A cell in a scan, with dropout of what comes out."""
    import equinox as eqx

    class Net(eqx.Module):
        cell: Any
        drop: Any
        last: Any

        def __call__(self, xs: Any, key: Any) -> Any:
            def step(h: Any, row: Any) -> Any:
                x, key = row
                return self.drop(self.cell(x, h), key=key), None

            keys = jax.random.split(key, xs.shape[0])
            h, _ = lax.scan(step, jnp.zeros(4), (xs, keys))
            return self.last(h)

    a, b = jax.random.split(jax.random.key(5))
    net = Net(eqx.nn.GRUCell(3, 4, key=a), eqx.nn.Dropout(0.4), eqx.nn.Linear(4, 2, key=b))

    def loss(net: Any, xs: Any, key: Any) -> Any:
        return (jax.vmap(net)(xs, jax.random.split(key, xs.shape[0])) ** 2).mean()

    return Case(loss, (net, normal(3, 5, 3), jax.random.key(6)))


# -- rules of one's own ----------------------------------------------------------------------------


@jax.custom_vjp
def clipped(x: Any) -> Any:
    """What comes back is kept between -0.1 and 0.1."""
    return x


clipped.defvjp(lambda x: (x, None), lambda _, g: (jnp.clip(g, -0.1, 0.1),))


@jax.custom_jvp
def straight(x: Any) -> Any:
    """A step, through which the gradient goes as if it were not there."""
    return jnp.sign(x)


straight.defjvp(lambda x, t: (jnp.sign(x[0]), t[0]))


@jax.custom_vjp
def scaled_product(x: Any, w: Any) -> Any:
    return x @ w


def _scaled_back(kept: Any, g: Any) -> Any:
    x, w = kept
    return 2 * g @ w.T, x.T @ g / 2


scaled_product.defvjp(lambda x, w: (x @ w, (x, w)), _scaled_back)


@jax.custom_jvp
def log1pexp(x: Any) -> Any:
    """The rule is of what it computes: nothing differs."""
    return jnp.log(1.0 + jnp.exp(x))


@log1pexp.defjvp
def _log1pexp_rule(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return log1pexp(x), (1 - 1 / (1 + jnp.exp(x))) * t


@jax.custom_vjp
def reversed_rows(x: Any) -> Any:
    """The gradient is another's: domain adaptation turns it round."""
    return jnp.tanh(x)


def _reversed_back(out: Any, g: Any) -> Any:
    return (-0.3 * g * jnp.where(out > 0, 1 - out * out, out * out).sum(0, keepdims=True),)


reversed_rows.defvjp(lambda x: (jnp.tanh(x), jnp.tanh(x)), _reversed_back)


def rules() -> dict[str, Case]:
    """One each; all of them one behind the other."""
    x, w = normal(3, 4), normal(4, 4)

    def of(rule: Callable[..., Any]) -> Callable[..., Any]:
        return lambda w, x: (jnp.sin(rule(jnp.cos(x @ w))) * 3).sum()

    def product(w: Any, x: Any) -> Any:
        return jnp.sin(scaled_product(jnp.cos(x), w * 2)).sum()

    def all_of_them(w: Any, x: Any) -> Any:
        h = scaled_product(straight(x @ w), w)
        return (clipped(reversed_rows(log1pexp(h))) ** 2).sum()

    found = {"rule_" + r.__name__: Case(of(r), (w, x)) for r in (
        clipped, straight, log1pexp, reversed_rows)}  # fmt: skip
    return found | {
        "rule_scaled_product": Case(product, (w, x)),
        "rules": Case(all_of_them, (w, x)),
    }


# -- what else there is ----------------------------------------------------------------------------


def drawn_in_loops(w: Any, key: Any) -> Any:
    """A key that goes along, one that is made of the iteration's number, and branches."""

    def step(carry: Any, i: Any) -> Any:
        h, key = carry
        key, own = jax.random.split(key)
        noise = jax.random.normal(own, h.shape) + jax.random.uniform(jax.random.fold_in(key, i))
        h = lax.cond(i % 2 == 0, lambda h: jnp.tanh(h @ w + noise), lambda h: h * noise, h)
        return (h, key), h.sum()

    (h, _), sums = lax.scan(step, (jnp.ones(3), key), jnp.arange(4))
    return (h**2).sum() + sums.mean()


def until(x: Any) -> Any:
    """A loop that only its values end: JAX has no gradient of it."""
    y = lax.while_loop(lambda c: c.sum() < 20, lambda c: c * 1.7 + 0.1, x)
    return (y**2).sum()


@jax.custom_vjp
def called_back(x: Any) -> Any:
    """A call of Python, which nothing is known of, with a rule."""
    return jax.pure_callback(lambda v: np.sin(v), jax.ShapeDtypeStruct(x.shape, x.dtype), x)


called_back.defvjp(lambda x: (called_back(x), x), lambda x, g: (g * jnp.cos(x),))


def opaque(x: Any) -> Any:
    """What is behind a call of Python runs."""
    return (called_back(x * 2) * x).sum()


def mixed_types(x: Any, n: Any) -> Any:
    half = (x.astype(jnp.bfloat16) * 2).astype(jnp.float32)
    bits = (n << 2) ^ (n & 3) | (n % 5)
    return (half * bits).sum() + (x * (n // 2) * (n > 1)).sum() + jnp.where(n == 2, x, -x).prod()


def indices(x: Any, i: Any) -> Any:
    """Every kind of index."""
    rows = (
        x[i] + x[-1] + x[:, 1:3].sum() + x[i, i].sum() + x[::-1][0] + x[jnp.array([[0, 1]])].sum()
    )
    picked = x[i[:, None], jnp.array([0, 2])].sum() + jnp.take(x, i + 2, axis=1, mode="wrap").sum()
    beyond = jnp.take(x, i + 2, axis=0, mode="fill", fill_value=0.5).sum()
    clipped = jnp.take(x, i + 2, axis=0, mode="clip").sum()
    batched = jax.vmap(lambda row, j: row.at[j].add(2.0 * row[0]))(x, i)
    dropped = (
        x.at[i + 2].mul(3.0, mode="drop", unique_indices=True)
        + x.at[i, 0].min(0.1)
        + x.at[1:3, 1].set(9.0)
    )
    return (rows**2).sum() + picked + beyond + clipped + (batched * dropped).sum()


def determinants(a: Any) -> Any:
    """And a search, which compares in an order of all numbers."""
    sign, size = jnp.linalg.slogdet(a @ a.T + jnp.eye(4))
    at = jnp.searchsorted(jnp.array([-1.0, 0.0, 1.0, jnp.nan]), a[0])
    curve = jnp.interp(a[1], jnp.array([-1.0, 0.0, 1.0]), jnp.array([0.0, 2.0, 3.0]))
    return sign * size + jnp.linalg.det(a[:3, :3]) + (at * a[2]).sum() + curve.sum()


def kept(x: Any, key: Any) -> Any:
    """What there is nothing like: a transform of what is captured, and numbers that are drawn of a
    shape that is differentiated."""
    wave = jnp.abs(jnp.fft.fft(jnp.asarray(_SCALE, jnp.float32)))
    return (x * wave).sum() + (jax.random.gamma(key, jnp.abs(x) + 0.5) * x).sum()


def put_together(x: Any, w: Any) -> Any:
    """Rows stacked and taken apart, products of rows with rows, and what rows of vmap have in
    common."""
    first, *rest = jnp.unstack(x, axis=1)
    grid = jnp.stack(jnp.meshgrid(first, rest[0]), axis=-1)
    ends = jnp.array([first[0], 1.0, rest[1][2] * 2])
    dots = jax.vmap(jnp.dot)(x, w) * jnp.einsum("bi,bi->b", x, x)
    slope = jax.grad(lambda v: v @ v)(first)
    apart = jax.vmap(lambda r: r - lax.pmean(r, "rows"), axis_name="rows")(x)
    return (grid**3).sum() + (ends**2).sum() + (dots * slope).sum() + (apart**3 * w).sum()


def overwritten(x: Any, i: Any) -> Any:
    """Places that are written to twice, whole powers at 0, and what has a lowering of its own."""
    one = jnp.zeros(4).at[i].set(x) ** 2
    rows = jax.vmap(lambda r, j: r.at[j].set(r[:3] * 3))(jnp.outer(x, x), jnp.stack([i, i, i * 0]))
    powers = (x - x[0]) ** 0 + lax.igamma(x, x + 0.5) + jax.scipy.special.i0(x)
    solved = lax.linalg.tridiagonal_solve(x, x + 4, x, x[:, None])
    largest = lax.approx_max_k(x, 2)[0] * lax.reduce_xor(i, (0,))
    return one.sum() + (rows**2).sum() + powers.sum() + (solved * largest).sum()


def each_until(x: Any, w: Any) -> Any:
    """Rows of a loop each of which ends when it likes."""

    def row(v: Any) -> Any:
        return lax.while_loop(lambda c: (c[0] * w[0]).sum() < 20, lambda c: (c[0] * v, c[1] + 1),
                              (v, 0))  # fmt: skip

    y, times = jax.vmap(row)(x)
    return (y**2).sum() + (x.sum(1) * times).sum()


_SCALE, _SHIFT = np.arange(3.0), jnp.ones(3)
_GRID = jnp.asarray(np.linspace(-1, 1, 9).reshape(3, 3), jnp.float32)
_moved = jax.jit(lambda x: x * _SCALE + _SHIFT)


def captured(x: Any) -> Any:
    """Arrays that functions in branches and loops have from outside."""
    y = lax.scan(lambda c, _: (_moved(c), None), x, None, length=2)[0]
    y = lax.cond(y.sum() > 0, lambda v: v * _SHIFT, lambda v: _moved(v) + _SCALE, y)
    z = lax.while_loop(lambda c: (_moved(c) * _SCALE).sum() < 50, lambda c: _moved(c) + 1, y)
    return (y * lax.stop_gradient(z)).sum()


def more() -> dict[str, Case]:
    return {
        "drawn_in_loops": Case(drawn_in_loops, (normal(3, 3), jax.random.key(8))),
        "until": Case(until, (jnp.abs(normal(3)),)),
        "opaque": Case(opaque, (normal(3),)),
        "mixed_types": Case(mixed_types, (normal(4), jnp.arange(4))),
        "determinants": Case(determinants, (normal(4, 4),)),
        "kept": Case(kept, (normal(3), jax.random.key(9))),
        "captured": Case(captured, (normal(3),)),
        "indices": Case(indices, (normal(3, 4), jnp.array([0, 2, 1]))),
        "put_together": Case(put_together, (_GRID, jnp.cos(3 * _GRID)), (0, 1)),
        "overwritten": Case(overwritten, (_GRID[1] + 1, jnp.array([2, 1, 2]))),
        "each_until": Case(each_until, (jnp.abs(_GRID) + 1.2, _GRID + 1.5)),
    }


def networks() -> dict[str, Case]:
    """Those whose packages are there."""
    found = {}
    for make in (flax_net, flax_lstm, flax_nnx, equinox_net, equinox_gru):
        try:
            found[make.__name__] = make()
        except ImportError:
            continue
    return found


def cases() -> dict[str, Case]:
    return {**thirteen(), **rules(), **more(), **networks()}
