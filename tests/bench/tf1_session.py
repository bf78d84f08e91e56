"""A TensorFlow 1 session on one thread, for those workloads whose networks `tf` itself builds.

Runs in the environment `tensorflow` of .bench/, where nothing of Gradstep is installed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.bench.program import Program, moved

Arrays = Mapping[str, np.ndarray]


def placed(tf: Any, arrays: Arrays) -> dict[Any, np.ndarray]:
    """A placeholder for each array, with it: what to feed."""
    tf.disable_eager_execution()
    return {tf.placeholder(x.dtype, x.shape, name): x for name, x in arrays.items()}


def variables(tf: Any, arrays: Arrays) -> dict[str, Any]:
    return {n: tf.Variable(x, name=n, use_resource=False) for n, x in arrays.items()}


def opened(tf: Any) -> Any:
    """A session whose variables have their first values."""
    one = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    session = tf.Session(config=one)
    session.run(tf.global_variables_initializer())
    return session


def adam(
    tf: Any,
    loss: Any,
    pairs: Sequence[tuple[Any, Any]],
    feeds: Mapping[Any, np.ndarray],
    start: Arrays,
    hyper: Mapping[str, float],
) -> Program:
    """A step that applies `pairs`, of gradients and variables, once all gradients are there.
    start: the first values of the variables, in their order."""
    with tf.control_dependencies([g for g, _ in pairs]):
        train = tf.train.AdamOptimizer(**hyper).apply_gradients(pairs)
    session, last = opened(tf), [0.0]

    def step() -> None:
        last[0] = session.run([loss, train], feeds)[0]

    def numbers() -> dict[str, float]:
        now = session.run([variable for _, variable in pairs])
        return {"loss": float(last[0]), "moved": moved(now, start.values())}

    return Program(step, numbers)
