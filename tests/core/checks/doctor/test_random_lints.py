"""In random networks with one planted mistake its lint says so at its node; without one none does.

A few dozen networks of each kind as a rule. Two thousand, in some minutes:

    HYPOTHESIS_PROFILE=thorough ./dev test tests/core/checks/doctor/test_random_lints.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override, OverrideKind
from gradstep.core.checks.doctor.diagnosis import diagnose
from gradstep.core.checks.doctor.examined_document import Examined
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.program.derive import derive

RUNS = 4  # of each network
ACTIVATIONS = {"relu": tf.nn.relu, "tanh": tf.tanh, "sigmoid": tf.sigmoid}
FEATURES, CLASSES = 4, 3


@dataclass
class Network:
    """A network of layers while it is drawn, as somebody would write it who makes no mistake but
    `mistake`."""

    random: np.random.Generator
    hidden: list[str]
    loss: str  # "classes" or "numbers"
    optimizer: str
    rows: int
    mistake: str
    b: GraphBuilder = field(default_factory=GraphBuilder)
    initial: dict[str, Constant] = field(default_factory=dict)
    feeds: dict[str, Constant] = field(default_factory=dict)
    targets: list[str] = field(default_factory=list)
    fetches: list[str] = field(default_factory=list)
    node: str = ""  # where it is to be said

    def variable(self, name: str, value: Any, dtype: str = "float32") -> Tensor:
        array = np.asarray(value, dtype)
        self.initial[name] = Constant(array)
        return self.b.variable(name, dtype=dtype, shape=list(array.shape))

    def fed(self, name: str, value: np.ndarray) -> Tensor:
        self.feeds[name] = Constant(value)
        return self.b.placeholder(name, str(value.dtype), [None, *value.shape[1:]])

    def layer(
        self,
        y: Tensor,
        name: str,
        units: int,
        scale: float = 1.0,
        bias: float = 0.1,
        end: str = "b",
    ) -> Tensor:
        """end: of the name of the biases; those that end in "b" are trained."""
        width = self.width
        weights = self.random.normal(size=(width, units)) * scale / np.sqrt(width)
        self.width = units
        w = self.variable(f"{name}/w", weights)
        biases = self.variable(f"{name}/{end}", np.full(units, bias))
        return tf.add(tf.matmul(y, w, name=f"{name}/product"), biases, name=f"{name}/sum")

    def document(self) -> Document:
        with self.b.as_default():
            self._draw()
        graph = self.b.build()
        wrt = tuple(TensorRef(name) for name in self.initial if name.endswith(("/w", "/b")))
        request = GradientRequest((TensorRef("loss"),), wrt)
        if self.mistake == "idle-stop":
            self.node = "labels"
            request = GradientRequest(
                (TensorRef("loss"),), wrt, stops=frozenset({TensorRef("labels")})
            )
        if self.mistake == "idle-override":
            self.node = "norm"
            over = Override("Identity", "norm", OverrideKind.OP)
            request = GradientRequest((TensorRef("loss"),), wrt, overrides=(over,))
        return Document(
            graph,
            request,
            initial=self.initial,
            feeds=self.feeds,
            targets=tuple(self.targets),
            fetches=tuple(TensorRef(name) for name in ("loss", *self.fetches)),
            optimizers=(Optimizer(*self._rule()),),
        )

    def _rule(self) -> tuple[str, dict[str, float]]:
        rates = {"overshooting-step": 6.0 / self.curvature, "summed-loss": 1.0 / 8}
        rate = rates.get(self.mistake, 0.02 if self.optimizer != "Adam" else 0.002)
        if self.mistake in ("overshooting-step", "summed-loss", "gradients-apart"):
            return "GradientDescent", {"learning_rate": rate}
        if self.mistake == "epsilon-rules":
            return "Adam", {"learning_rate": rate}
        more = {"momentum": 0.5} if self.optimizer == "Momentum" else {}
        return self.optimizer, {"learning_rate": rate} | more

    def _draw(self) -> None:
        data = self.random.normal(size=(self.rows, FEATURES)).astype(np.float32)
        centred = data - data.mean(axis=0)
        self.curvature = 2 * float(np.linalg.eigvalsh(centred.T @ centred / self.rows)[-1])
        self.width = FEATURES
        y = self.fed("x", data * np.float32(200 if self.mistake == "unscaled-input" else 1))
        if self.mistake == "overshooting-step":
            self.hidden, self.loss, self.node = [], "numbers", "last/w"
        if self.mistake == "gradients-apart":
            self.hidden = self.hidden[:1]
        for number, kind in enumerate(self.hidden):
            y = self._hidden(y, number, kind)
        y = self._before_last(y)
        if self.mistake == "unscaled-input":
            self.node = "layer_0/product"
        total = self._classes(y) if self.loss == "classes" else self._numbers(y)
        if self.mistake == "epsilon-rules":
            total, self.node = total * 1e-12, "last/w"
        if self.mistake == "integer-quotient":
            self.node = "half"
            half = self.b.one("FloorDiv", np.int32(1), np.int32(2), name="half")
            total = total + total * tf.cast(half, "float32")
        tf.identity(total, name="loss")
        self._beside()

    def _hidden(self, y: Tensor, number: int, kind: str) -> Tensor:
        name = f"layer_{number}"
        is_here = number == len(self.hidden) - 1
        if self.mistake == "dead-units" and is_here:
            self.node = f"{name}/out"
            return tf.nn.relu(self.layer(y, name, 16, bias=-50.0), name=self.node)
        if self.mistake == "saturated-units" and is_here:
            self.node = f"{name}/out"
            flat = tf.tanh if kind == "relu" else ACTIVATIONS[kind]
            return flat(self.layer(y, name, 16, scale=3000.0, bias=30.0), name=self.node)
        bias = 1.0 if kind == "relu" else 0.1  # so that few units are dead by chance
        end = "fixed" if is_here else "b"  # a mean is subtracted from what comes after the last
        return ACTIVATIONS[kind](self.layer(y, name, 16, bias=bias, end=end), name=f"{name}/out")

    def _before_last(self, y: Tensor) -> Tensor:
        self.mean = tf.reduce_mean(y, 0, name="average/mean")
        self.moving = self.variable("average/moving", np.zeros(self.width))
        y = tf.subtract(y, self.mean, name="centred")
        if self.mistake == "unlearned-statistics":
            return self._normalised(y)
        if self.mistake == "gradients-apart":
            self.node = "layer_0/w"
            return tf.add(y * 1e-7, np.linspace(-1, 1, self.width, dtype=np.float32))
        if self.mistake == "dropout-in-judgement":
            draws = tf.random_uniform([self.rows, self.width], seed=5)
            return tf.multiply(y, tf.cast(tf.greater_equal(draws, 0.3), "float32"), name="drop")
        return y

    def _normalised(self, y: Tensor) -> Tensor:
        """In inference mode, with averages that are 0 and 1."""
        self.node, width = "normal/all", self.width
        of = [
            self.variable(f"normal/{name}", np.full(width, value))
            for name, value in (("w", 1.0), ("b", 0.0), ("mean", 0.0), ("variance", 1.0))
        ]
        images = tf.reshape(y, [-1, 1, 1, width])
        found = self.b.op("FusedBatchNorm", images, *of, is_training=False, name="normal/all")[0]
        return tf.reshape(found, [-1, width])

    def _classes(self, y: Tensor) -> Tensor:
        labels = self.random.integers(0, CLASSES, self.rows).astype(np.int32)
        if self.mistake == "label-range":
            labels[int(self.random.integers(self.rows))], self.node = CLASSES, "hot"
        logits = self.layer(y, "last", CLASSES)
        tf.argmax(logits, 1, name="best")
        hot = self.b.one(
            "OneHot", self.fed("labels", labels), np.int32(CLASSES), 1.0, 0.0, name="hot"
        )
        if self.mistake == "softmax-twice":
            logits, self.node = tf.nn.softmax(logits), "each"
        if self.mistake == "log-by-hand":
            self.node = "log"
            each = -tf.reduce_sum(hot * tf.log(tf.nn.softmax(logits), name="log"), 1)
        else:
            each = self.b.op("SoftmaxCrossEntropyWithLogits", logits, hot, name="each")[0]
        return self._over_rows(each)

    def _numbers(self, y: Tensor) -> Tensor:
        wanted = self.random.normal(size=(self.rows, 1)).astype(np.float32)
        answer = self.layer(y, "last", 1)
        if self.mistake == "broadcast-by-accident":
            self.node = "error"
            wanted = wanted[:, 0]
        error = tf.subtract(answer, self.fed("labels", wanted), name="error")
        if self.mistake == "broadcast-by-accident":
            return tf.reduce_mean(tf.square(error))
        return self._over_rows(tf.reduce_sum(tf.square(error), 1))

    def _over_rows(self, each: Tensor) -> Tensor:
        if self.mistake == "summed-loss":
            self.node = "total"
            return tf.reduce_sum(each, name="total")
        return tf.reduce_mean(each, name="total")

    def _beside(self) -> None:
        """What runs do besides training, or fail to do."""
        step = tf.multiply(tf.subtract(self.moving, self.mean), 0.1, name="average/step")
        self.b.one("AssignSub", self.moving, step, name="average/move")
        self.targets += ["average/move", "count/add"]
        if self.mistake == "forgotten-average":
            self.targets.remove("average/move")
            self.node = "average/move"
        start = 2.0**24 if self.mistake == "lost-digits" else 0.0
        count = self.variable("count/steps", start)
        self.b.one("AssignAdd", count, 1.0, name="count/add")
        tf.sqrt(tf.reduce_sum(tf.square(self.mean)), name="norm")
        self.fetches += ["norm"]
        if self.mistake == "idle-update":
            self.targets.remove("count/add")
            self.node = "count/add"
        if self.mistake == "lost-digits":
            self.node = "count/steps"
        if self.mistake == "dropout-in-judgement":
            self.node = "best"
            self.fetches.append("best")
        if self.mistake == "idle-wait":
            self.node = "late"
            tf.negative(np.float32(3.0), name="pure")
            with self.b.control_dependencies(["pure"]):
                tf.square(np.float32(2.0), name="late")
            self.fetches.append("late")
        if self.mistake == "unreached-variable":
            self.node = "extra/w"
            extra = self.variable("extra/w", 1.0)
            tf.floor(extra, name="extra/floor")


MISTAKES: dict[str, Callable[[Network], bool]] = {
    "softmax-twice": lambda n: n.loss == "classes",
    "log-by-hand": lambda n: n.loss == "classes",
    "label-range": lambda n: n.loss == "classes",
    "broadcast-by-accident": lambda n: n.loss == "numbers",
    "integer-quotient": lambda n: True,
    "forgotten-average": lambda n: True,
    "unlearned-statistics": lambda n: True,
    "idle-update": lambda n: True,
    "unreached-variable": lambda n: True,
    "idle-wait": lambda n: True,
    "idle-stop": lambda n: True,
    "idle-override": lambda n: True,
    "dropout-in-judgement": lambda n: n.loss == "classes",
    "dead-units": lambda n: bool(n.hidden),
    "saturated-units": lambda n: bool(n.hidden),
    "gradients-apart": lambda n: bool(n.hidden),
    "epsilon-rules": lambda n: True,
    "overshooting-step": lambda n: True,
    "summed-loss": lambda n: True,
    "unscaled-input": lambda n: bool(n.hidden),
    "lost-digits": lambda n: True,
}


@st.composite
def networks(draw: st.DrawFn, planted: bool) -> Network:
    mistake = draw(st.sampled_from(sorted(MISTAKES))) if planted else ""
    network = Network(
        random=np.random.default_rng(draw(st.integers(0, 99_999))),
        hidden=draw(st.lists(st.sampled_from(sorted(ACTIVATIONS)), min_size=1, max_size=3)),
        loss=draw(st.sampled_from(("classes", "numbers"))),
        optimizer=draw(st.sampled_from(("GradientDescent", "Momentum", "Adam"))),
        rows=draw(st.integers(8, 24)),
        mistake=mistake,
    )
    if mistake and not MISTAKES[mistake](network):
        network.loss = "numbers" if network.loss == "classes" else "classes"
    return network


def said(document: Document) -> dict[tuple[str, str], str]:
    """Lint and node -> what it says."""
    program = derive(document)
    session = DebugSession(program)
    for _ in range(RUNS):
        assert session.command("continue_").reason == "end"
    found = diagnose(Examined(document, program, session), ())
    return {(each.lint.code, each.finding.node): each.finding.text for each in found}


_SETTINGS = settings(deadline=None, suppress_health_check=[*HealthCheck])


@_SETTINGS
@given(networks(planted=True))
@pytest.mark.slow
def test_a_planted_mistake_is_said_at_its_node(network: Network) -> None:
    found = said(network.document())
    assert (network.mistake, network.node) in found, (network, found)


@_SETTINGS
@given(networks(planted=False))
@pytest.mark.slow
def test_nothing_is_said_of_a_network_without_one(network: Network) -> None:
    assert said(network.document()) == {}, network
