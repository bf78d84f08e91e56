"""Random loops, made alike with TensorFlow and with Gradstep: nested ones, conds, captures, trip
counts that depend on the data. `python -m tests.support.random_loops FILE` with TensorFlow 2.21 in
v1 mode writes what it gives for SEEDS."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

SEEDS = (1, 5, 6, 11, 18, 33, 104, 112, 117, 123, 138, 146)


class RandomLoops:
    """tf: the module to build with; placeholder(name, dtype, shape): makes one."""

    def __init__(self, tf: Any, seed: int, placeholder: Callable[..., Any]) -> None:
        self.tf, self.random = tf, np.random.RandomState(seed)
        self.shape = ((), (2,), (2, 2))[self.random.randint(3)]
        self.dtype = ("float32", "float64")[self.random.randint(2)]
        self.feeds: dict[str, Any] = {}
        self.xs = []
        for name in ("x0", "x1", "x2"):
            self.feeds[name] = self.random.uniform(0.3, 1.2, self.shape).astype(self.dtype)
            self.xs.append(placeholder(name, self.dtype, list(self.shape)))
        self.n = placeholder("n", "int32", [])
        self.feeds["n"] = np.int32(self.random.randint(0, 4))
        count = 1 + self.random.randint(2)
        self.ys = [tf.reduce_sum(self.loop(self.xs, 2)) for _ in range(count)]

    def loop(self, pool: list[Any], inner: int) -> Any:
        """One result of a loop over tensors of `pool`, with up to `inner` loops inside."""
        tf, random = self.tf, self.random
        count = random.randint(1, 4)
        first = [self.one_of(pool) for _ in range(count)]
        limit = (self.n, 2, 3)[random.randint(3)]
        by_data = random.rand() < 0.3

        def cond(i: Any, *variables: Any) -> Any:
            more = i < limit
            return tf.logical_and(more, tf.reduce_sum(variables[0]) < 4.0) if by_data else more

        def body(i: Any, *variables: Any) -> list[Any]:
            own = [tf.cast(i, self.dtype) * variables[0]] if random.rand() < 0.4 else []
            there = [*variables, *pool, *own]
            return [i + 1, *(self.expression(there, random.randint(1, 4), inner) for _ in first)]

        found = tf.while_loop(cond, body, [tf.constant(0), *first])
        return found[1 + random.randint(count)]

    def one_of(self, pool: list[Any]) -> Any:
        return pool[self.random.randint(len(pool))]

    def expression(self, pool: list[Any], depth: int, inner: int) -> Any:
        tf = self.tf
        kind, a, b = self.random.randint(0, 15), self.one_of(pool), self.one_of(pool)
        if depth == 0:
            return a

        def deeper(inner: int = inner) -> Any:
            return self.expression(pool, depth - 1, inner)

        made: dict[int, Callable[[], Any]] = {
            0: lambda: deeper() * deeper(),
            1: lambda: deeper() + b,
            2: lambda: tf.sin(deeper()),
            3: lambda: tf.tanh(a - b),
            4: lambda: tf.stop_gradient(a) * b,
            5: lambda: tf.floor(a * 3.0) + b,
            6: lambda: tf.maximum(a, b) * 0.5,
            7: lambda: a * tf.reduce_sum(b) * 0.3,
            8: lambda: self.loop(pool, inner - 1) if inner else a,
            9: lambda: tf.matmul(a, b) * 0.5 if self.shape == (2, 2) else b,
            10: lambda: tf.cond(
                tf.reduce_sum(a) > 1.0, lambda: deeper() * 1.5, lambda: deeper(0) + b
            ),
        }
        return made.get(kind, made[kind % 2])()


def record(path: str) -> None:
    """Write what TensorFlow gives, where it can run its own gradient."""
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    tf.disable_control_flow_v2()
    found: dict[str, Any] = {}
    for seed in SEEDS:
        with tf.Graph().as_default(), tf.Session() as session:
            made = RandomLoops(
                tf, seed, lambda name, kind, shape: tf.placeholder(kind, shape, name)
            )
            grads = tf.gradients(made.ys, made.xs)
            feeds = {f"{name}:0": value for name, value in made.feeds.items()}
            try:
                values = session.run([made.ys, [g for g in grads if g is not None]], feeds)
            except tf.errors.InvalidArgumentError:
                continue  # "Retval[2] does not have value": TensorFlow's own, of dead gradients
            there = iter(values[1])
            found[str(seed)] = {
                "ys": [y.tolist() for y in values[0]],
                "grads": [None if g is None else next(there).tolist() for g in grads],
            }
    with open(path, "w") as file:
        json.dump(found, file, indent=1)


if __name__ == "__main__":
    record(sys.argv[1])
