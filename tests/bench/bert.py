"""BERT-base, from its file to a training step: what each stage takes, and how much memory at most.

    python -m tests.bench.bert [--file pb] [--batch 2] [--layers 12]

writes the encoder (12 layers of 768, 12 heads, sequences of 128, 86 million parameters) with
Adam's updates into a temporary file, and goes, in a process of its own each, through what
`gradstep train` and what the debugger does with it. Seconds by the clock and of CPU time; memory is
the largest part of the process that was resident so far. It takes minutes, and no suite runs it.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.export_document import write
from gradstep.core.io.open_document import read
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.program.derive import derive

WIDTH, INNER, HEADS, LENGTH, CLASSES = 768, 3072, 12, 128, 2
_random = np.random.default_rng(1)
_T = TypeVar("_T")


class Network:
    """The network while it is being built."""

    def __init__(self) -> None:
        self.build = GraphBuilder()
        self.initial: dict[str, Constant] = {}

    def weights(self, name: str, *shape: int, value: float | None = None) -> Tensor:
        """A variable: small random numbers, or `value`."""
        made = self.build.variable(name, "float32", shape)
        if value is None:
            numbers = 0.02 * _random.standard_normal(shape, np.float32)
        else:
            numbers = np.full(shape, value, np.float32)
        self.initial[made.ref.op] = Constant(numbers)
        return made

    def dense(self, x: Tensor, name: str, inputs: int, outputs: int) -> Tensor:
        with self.build.scope(name):
            w, b = self.weights("kernel", inputs, outputs), self.weights("bias", outputs, value=0)
            return tf.nn.bias_add(tf.matmul(x, w), b)

    def normalized(self, x: Tensor, name: str) -> Tensor:
        with self.build.scope(name):
            gamma, beta = (self.weights(n, WIDTH, value=v) for n, v in (("gamma", 1), ("beta", 0)))
            mean = tf.reduce_mean(x, axis=[-1], keepdims=True)
            spread = tf.reduce_mean(tf.squared_difference(x, mean), axis=[-1], keepdims=True)
            return (x - mean) * tf.rsqrt(spread + 1e-12) * gamma + beta

    def attention(self, x: Tensor, batch: int) -> Tensor:
        def heads(name: str) -> Tensor:
            parts = [batch, LENGTH, HEADS, WIDTH // HEADS]
            y = tf.reshape(self.dense(x, name, WIDTH, WIDTH), parts)
            return tf.transpose(y, [0, 2, 1, 3])

        query, key, value = heads("query"), heads("key"), heads("value")
        scores = tf.matmul(query, key, transpose_b=True) * float((WIDTH // HEADS) ** -0.5)
        mixed = tf.transpose(tf.matmul(tf.nn.softmax(scores), value), [0, 2, 1, 3])
        return self.dense(tf.reshape(mixed, [batch * LENGTH, WIDTH]), "output", WIDTH, WIDTH)

    def layer(self, x: Tensor, batch: int) -> Tensor:
        with self.build.scope("attention"):
            x = self.normalized(x + self.attention(x, batch), "norm")
        y = self.dense(x, "intermediate", WIDTH, INNER)
        y = y * 0.5 * (1.0 + tf.erf(y * float(0.5**0.5)))
        return self.normalized(x + self.dense(y, "output", INNER, WIDTH), "norm")


def bert(layers: int, batch: int) -> Document:
    """The document: embedded words in, the loss of a class for each sequence out, and Adam."""
    net = Network()
    words = net.build.placeholder("words", "float32", (batch, LENGTH, WIDTH))
    labels = net.build.placeholder("labels", "float32", (batch, CLASSES))
    x = words + net.weights("positions", LENGTH, WIDTH)
    x = net.normalized(tf.reshape(x, [batch * LENGTH, WIDTH]), "embedded")
    for number in range(layers):
        with net.build.scope(f"layer_{number}"):
            x = net.layer(x, batch)
    first = tf.reshape(x, [batch, LENGTH, WIDTH])[:, 0, :]
    pooled = tf.tanh(net.dense(first, "pooler", WIDTH, WIDTH))
    logits = net.dense(pooled, "classifier", WIDTH, CLASSES)
    each = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
    loss = tf.reduce_mean(each, name="loss")
    feeds = {
        "words:0": Constant(_random.standard_normal((batch, LENGTH, WIDTH), np.float32)),
        "labels:0": Constant(np.eye(CLASSES, dtype=np.float32)[np.arange(batch) % CLASSES]),
    }
    return Document(
        graph=net.build.build(),
        request=GradientRequest((loss.ref,), tuple(TensorRef(name) for name in net.initial)),
        initial=net.initial,
        feeds=feeds,
        optimizers=(Optimizer("Adam", {"learning_rate": 1e-5}),),
    )


def measure(path: Path, way: str) -> None:
    """Print a line for each stage."""
    document = _stage("open", lambda: read(path, Budget(4 << 30)))
    if path.suffix == ".pb":
        return  # the network alone: what to differentiate and to train is said when it is open
    program = _stage("derive", lambda: derive(document))
    trained = sum(math.prod(x.array.shape) for x in document.initial.values())
    _say(f"  {len(program.graph.operations):,} operations, {trained:,} numbers in variables")
    for problem in program.problems:
        _say(f"  {problem}")
    step: Callable[[], object]
    if way == "fast":
        make = partial(Session, program.graph, initial=program.initial, fast=True)
        session = _stage("compile, fast", make)
        losses = [ref for ref in program.fetches if ref.op == "loss"]
        step = partial(session.values, losses, program.feeds, program.targets)
    else:
        step = _stage("compile, debugger", lambda: DebugSession(program)).continue_
    for number in ("first", "second", "third"):
        _stage(f"{number} training step, {way}", step)


def _stage(name: str, work: Callable[[], _T]) -> _T:
    start, cpu = time.perf_counter(), time.process_time()
    result = work()
    wall, used = time.perf_counter() - start, time.process_time() - cpu
    _say(f"{name:32} {wall:6.1f} s, {used:6.1f} s CPU, {_peak():.2f} GiB at most")
    return result


def _peak() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 2**20
    return 0.0


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bert", description=__doc__)
    parser.add_argument("--file", choices=("gradstep", "pb"), default="gradstep")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--way", default="fast", help=argparse.SUPPRESS)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.measure is not None:
        measure(wanted.measure, wanted.way)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"bert.{wanted.file}"
        _stage("build and write", lambda: write(path, bert(wanted.layers, wanted.batch)))
        command = [sys.executable, "-m", "tests.bench.bert", "--way"]
        _say(f"  {path.stat().st_size / 2**20:,.0f} MiB")
        ways = ("fast", "debugger") if wanted.file == "gradstep" else ("fast",)
        return max(subprocess.call([*command, way, "--measure", str(path)]) for way in ways)


if __name__ == "__main__":
    sys.exit(main())
