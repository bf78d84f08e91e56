"""W1 on rows of two numbers: each step is fed 32 of them. What surrounds a step when it computes
nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.bench.ours import declared, placed, training
from tests.bench.program import Program
from tests.bench.workloads import w1

RATES, START, BATCH = w1.RATES, w1.START, 32
DATA = {name: np.ones((BATCH, 2), np.float32) for name in ("x", "labels")}


def ours(rate: float, **how: Any) -> Program:
    build = GraphBuilder()
    x, labels = placed(build, DATA)
    c, k = declared(build, START)
    logits = (x + c) * (c + k)
    loss = tf.reduce_mean(
        tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits), axis=0
    )
    return training(build, loss, START, DATA, ("Adam", {"learning_rate": rate}), **how)
