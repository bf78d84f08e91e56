"""Random small networks with their training: what passes over layers and updates meet.

Layers of every usual kind in any order, variables behind refs or handles, one or two optimizers,
dense and sparse gradients, and whatever tensors fetched on the way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.train.optimizers import apply_updates
from tests.support.layouts import Case

OPTIMIZERS: tuple[tuple[str, dict[str, float]], ...] = (
    ("GradientDescent", {"learning_rate": 0.1}),
    ("Adam", {"learning_rate": 0.01}),
    ("Adam", {"learning_rate": 0.1, "epsilon": 0.1, "beta1": 0.8}),
    ("Momentum", {"learning_rate": 0.05, "momentum": 0.9}),
    ("Momentum", {"learning_rate": 0.05, "momentum": 0.9, "use_nesterov": True}),
    ("Adagrad", {"learning_rate": 0.1}),
    ("Adadelta", {"learning_rate": 1.0}),
    ("RMSProp", {"learning_rate": 0.01, "momentum": 0.5}),
    ("RMSProp", {"learning_rate": 0.01, "centered": True}),
    ("Ftrl", {"learning_rate": 0.1, "l1_regularization_strength": 0.01}),
    ("ProximalGradientDescent", {"learning_rate": 0.1, "l1_regularization_strength": 0.01}),
    ("ProximalAdagrad", {"learning_rate": 0.1, "l2_regularization_strength": 0.01}),
)
ODD = (np.nan, np.inf, -np.inf, -0.0, 1e-42, 3e38)


class Network:
    """A network while it is drawn."""

    def __init__(self, draw: Callable[..., Any]) -> None:
        self.draw = draw
        self.build = GraphBuilder()
        self.dtype = draw(st.sampled_from(("float32", "float32", "float64")))
        self.resource = draw(st.booleans())
        self.random = np.random.default_rng(draw(st.integers(0, 999)))
        self.batch = draw(st.integers(1, 5))
        self.initial: dict[str, np.ndarray] = {}
        self.feeds: dict[TensorRef, np.ndarray] = {}
        self.trained: list[Tensor] = []

    def array(self, *shape: int) -> np.ndarray:
        return self.random.uniform(-1, 1, shape).astype(self.dtype)

    def fed(self, name: str, array: np.ndarray) -> Tensor:
        """A placeholder; of its shape more or less is known before running."""
        known = self.draw(st.sampled_from((array.shape, array.shape, (None, *array.shape[1:]))))
        made = self.build.placeholder(name, str(array.dtype), known)
        self.feeds[made.ref] = array
        return made

    def weights(self, *shape: int) -> Tensor:
        """The value of a new variable."""
        name = self.build.unique("w")
        self.initial[name] = self.array(*shape)
        if not self.resource:
            made = self.build.variable(name, self.dtype, shape)
            self.trained.append(made)
            return made
        kind = {"dtype": DType(self.dtype), "shape": Shape(shape)}
        handle = self.build.one("VarHandleOp", name=name, **kind)
        self.trained.append(handle)
        return _value(self, handle)


def pictures(net: Network) -> Tensor:
    """Convolutions, pooling and nonlinearities in any order, then flat."""
    draw = net.draw
    x = net.fed("x", net.array(net.batch, 8, 8, 2))
    for _ in range(draw(st.integers(1, 2))):
        filters = net.weights(3, 3, 2, 2)
        x = tf.nn.conv2d(x, filters, strides=[1, 1, 1, 1], padding=draw(_PADDING))
        steps = draw(st.permutations((_bias, _nonlinear, _pooled)))
        for step in steps[: draw(st.integers(1, 3))]:
            x = step(net, x)
    rows = net.build.constant(np.array([-1, int(np.prod(x.shape.dims[1:]))], np.int32))
    return tf.reshape(x, rows)


_PADDING = st.sampled_from(("SAME", "VALID"))


def _bias(net: Network, x: Tensor) -> Tensor:
    return tf.nn.bias_add(x, net.weights(x.shape.dims[-1]))


def _nonlinear(net: Network, x: Tensor) -> Tensor:
    names = ("relu", "relu6", "tanh", "sigmoid", "elu", "softplus", "leaky_relu", "softsign")
    name = net.draw(st.sampled_from(names))
    return getattr(tf.nn, name, None)(x) if hasattr(tf.nn, name) else getattr(tf, name)(x)


def _pooled(net: Network, x: Tensor) -> Tensor:
    pool = net.draw(st.sampled_from((tf.nn.max_pool, tf.nn.max_pool, tf.nn.avg_pool)))
    size = net.draw(st.sampled_from(((2, 2), (2, 1), (3, 1), (3, 2))))
    window, stride = ([1, n, n, 1] for n in size)
    return pool(x, ksize=window, strides=stride, padding="SAME")


def sequence(net: Network) -> Tensor:
    """An unrolled recurrent network, plain or with gates; the last state, or some of them all."""
    draw, units = net.draw, draw_units(net)
    x = net.build.placeholder("x", net.dtype, shape := (draw(st.integers(2, 5)), net.batch, 3))
    net.feeds[x.ref] = net.array(*shape)
    gated, biased = draw(st.booleans()), draw(st.booleans())
    width = 4 * units if gated else units
    wx, wh = net.weights(3, width), net.weights(units, width)
    bias = net.weights(width) if biased else None
    h = c = net.build.constant(np.zeros((net.batch, units), net.dtype))
    states = []
    for x_t in tf.unstack(x):
        pair = tf.matmul(x_t, wx), tf.matmul(h, wh)
        gates = pair[0] + pair[1] if draw(st.booleans()) else pair[1] + pair[0]
        gates = gates if bias is None else tf.nn.bias_add(gates, bias)
        if gated:
            i, f, g, o = tf.split(gates, 4, axis=1)
            c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
            h = tf.sigmoid(o) * tf.tanh(c)
        else:
            h = tf.tanh(gates)
        states.append(h)
    return tf.add_n(states) if draw(st.booleans()) else h


def draw_units(net: Network) -> int:
    return int(net.draw(st.integers(1, 4)))


def words(net: Network) -> Tensor:
    """Rows of a table, some of them more than once: a sparse gradient."""
    table = net.weights(7, 3)
    ids = net.random.integers(0, 7, (net.batch, 4)).astype(np.int32)
    taken = tf.gather(table, net.fed("ids", ids))
    return tf.reduce_sum(taken, axis=1)


def numbers(net: Network) -> Tensor:
    x = net.array(net.batch, 4)
    if net.draw(st.integers(0, 4)) == 0:
        x.flat[:: 2 + net.draw(st.integers(0, 3))] = net.draw(st.sampled_from(ODD))
    return net.fed("x", x)


def _dense(net: Network, x: Tensor) -> Tensor:
    units = draw_units(net) + 1
    y = tf.matmul(x, net.weights(int(x.shape.dims[-1]), units))
    y = _bias(net, y) if net.draw(st.booleans()) else y
    return _nonlinear(net, y) if net.draw(st.booleans()) else y


def _dropped(net: Network, x: Tensor) -> Tensor:
    return tf.nn.dropout(x, rate=0.4, seed=net.draw(st.integers(1, 9)))


def _normalized(net: Network, x: Tensor) -> Tensor:
    mean, variance = tf.nn.moments(x, [0])
    width = int(x.shape.dims[-1])
    return tf.nn.batch_normalization(
        x, mean, variance, net.weights(width), net.weights(width), 1e-3
    )


def _residual(net: Network, x: Tensor) -> Tensor:
    y = tf.matmul(x, net.weights(int(x.shape.dims[-1]), int(x.shape.dims[-1])))
    return _nonlinear(net, y) + x


def _noisy(net: Network, x: Tensor) -> Tensor:
    return x * tf.tanh(tf.stop_gradient(x)) - x * 0.5


FRONTS = (pictures, sequence, words, numbers, numbers)
LAYERS = (_dense, _dense, _dropped, _normalized, _residual, _noisy)


def _again(net: Network, x: Tensor, targets: list[str]) -> Tensor:
    """Another layer, or the last one once more, after the updates; may fail on odd numbers."""
    with net.build.control_dependencies(targets):
        for variable in net.trained if net.draw(st.booleans()) else ():
            x = x + tf.reduce_sum(_value(net, variable)) * 0.1
        if net.draw(st.booleans()):
            x = net.build.one("CheckNumerics", x, message="odd")
        return _dense(net, x)


def _value(net: Network, variable: Tensor) -> Tensor:
    if variable.dtype is not DType.RESOURCE:
        return variable
    return net.build.one("ReadVariableOp", variable, dtype=DType(net.dtype))


def _loss(net: Network, x: Tensor, name: str) -> Tensor:
    classes = int(x.shape.dims[-1])
    labels = np.eye(classes, dtype=net.dtype)[net.random.integers(0, classes, net.batch)]
    kind = net.draw(st.sampled_from(("softmax", "sigmoid", "square", "sparse")))
    if kind == "sparse":
        numbers = net.random.integers(0, classes, net.batch).astype(np.int64)
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=net.fed(name, numbers), logits=x
        )
        return tf.reduce_mean(each)
    wanted = net.fed(name, labels)
    if kind == "softmax":
        each = tf.nn.softmax_cross_entropy_with_logits_v2(labels=wanted, logits=x)
    elif kind == "sigmoid":
        each = tf.nn.sigmoid_cross_entropy_with_logits(labels=wanted, logits=x)
    else:
        each = tf.square(x - wanted)
    return tf.reduce_mean(each)


def _train(net: Network, loss: Tensor) -> tuple[list[Tensor], list[str]]:
    """Gradients, and updates by one optimizer for all variables, or by two that share them out."""
    found = gradients(loss, net.trained)
    pairs = [(v.ref.op, g) for v, g in zip(net.trained, found, strict=True) if g is not None]
    cut = net.draw(st.integers(0, len(pairs))) if net.draw(st.booleans()) else 0
    targets: list[str] = []
    for some in (pairs[:cut], pairs[cut:]):
        if some:
            kind, hyper = net.draw(st.sampled_from(OPTIMIZERS))
            updates = apply_updates(net.build, kind, hyper, some)
            net.initial.update(updates.initial)
            targets += updates.targets
    return [g for _, g in pairs if isinstance(g, Tensor)], targets


@st.composite
def networks(draw: Callable[..., Any]) -> Case:
    net = Network(draw)
    with net.build.as_default():
        x = draw(st.sampled_from(FRONTS))(net)
        for layer in draw(st.lists(st.sampled_from(LAYERS), max_size=3)):
            x = layer(net, x)
        x = _dense(net, x)
        loss = _loss(net, x, "labels")
        found, targets = _train(net, loss)
        if draw(st.integers(0, 3)) == 0:  # what was updated is read, and updated once more
            again = _loss(net, _again(net, x, targets), "wanted")
            more, second = _train(net, again)
            found, targets = [*found, again, *more], [*targets, *second]
    graph = net.build.build()
    seen = [op.output() for op in graph if is_seen(net.build, op)]
    chosen = draw(st.lists(st.sampled_from(seen), max_size=6, unique=True))
    fetches = dict.fromkeys([loss.ref, *(g.ref for g in found if draw(st.booleans())), *chosen])
    return Case(graph, tuple(fetches), tuple(targets), net.feeds, net.initial)


def is_seen(build: GraphBuilder, op: Operation) -> bool:
    """Whether it has an output that is an array."""
    return build.output_count(op.name) > 0 and op.type != "VarHandleOp"
