"""Writes wrong_gradient.zip: a network of TensorFlow's with a gradient of its own that is wrong.

    python tests/data/saved_models/record_wrong_gradient.py

The numerically stable softplus of the documentation of tf.custom_gradient, whose gradient forgets
to multiply by what arrives: it is right behind a plain sum, and so in the test that was written
for it.
"""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import function

v1 = tf.compat.v1
FILE = Path(__file__).with_name("wrong_gradient.zip")


def numbers(seed, *shape):
    return np.random.RandomState(seed).randn(*shape).astype(np.float32)


@function.Defun(tf.float32, tf.float32)
def softplus_grad(x, upstream):
    return 1.0 - 1.0 / (1.0 + tf.exp(x))


@function.Defun(tf.float32, grad_func=softplus_grad)
def softplus(x):
    return tf.math.log(1.0 + tf.exp(x))


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        with tf.Graph().as_default(), v1.Session() as session:
            x = tf.constant(numbers(1, 8, 4), name="features")
            wanted = tf.constant(numbers(2, 8, 2), name="targets")
            with v1.name_scope("hidden"):
                w = v1.get_variable("hidden_w", initializer=numbers(3, 4, 6), use_resource=True)
                h = softplus(tf.matmul(x, w, name="product"))
                h.set_shape([8, 6])
            with v1.name_scope("output"):
                v = v1.get_variable("output_w", initializer=numbers(4, 6, 2), use_resource=True)
                y = tf.matmul(h, v, name="product")
            tf.reduce_mean(tf.math.squared_difference(y, wanted), name="loss")
            session.run(v1.global_variables_initializer())
            v1.train.Saver().save(session, str(path / "network.ckpt"))
        with zipfile.ZipFile(FILE, "w", zipfile.ZIP_DEFLATED) as archive:
            for part in sorted(path.iterdir()):
                if part.name != "checkpoint":
                    archive.write(part, part.name)


if __name__ == "__main__":
    main()
