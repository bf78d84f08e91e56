"""Recording one small network as PyTorch, JAX and TensorFlow each have it, for their alignment.

    python tests/traces/record_alike.py torch|jax|tensorflow

needs that framework, and nothing of Gradstep. A convolution, a batch normalization of recorded
statistics, GELU, a layer normalization over channels, two dense layers and the cross entropy; the
weights are drawn by NumPy. PyTorch's is in its own order of axes with its own modules, the others
have channels last, and TensorFlow's is a SavedModel of functions. ONNX's is in tests/support/alike.
"""

from __future__ import annotations

import shutil
import sys
import zipfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "data" / "alignment"
sys.path[:0] = [str(ROOT / "assets" / "capture")]


def numbers() -> dict[str, np.ndarray]:
    """Weights in PyTorch's layouts, and what is fed: float32, and labels int64[2]."""
    draw = np.random.RandomState(4)
    shapes = {
        "kernel": (6, 3, 3, 3), "bias": (6,), "scale": (6,), "shift": (6,), "mean": (6,),
        "gain": (6,), "offset": (6,), "w1": (6, 6), "b1": (6,), "w2": (5, 6), "b2": (5,),
        "x": (2, 3, 8, 8),
    }  # fmt: skip
    found = {k: draw.standard_normal(s).astype(np.float32) for k, s in shapes.items()}
    found["variance"] = (0.5 + draw.random_sample(6)).astype(np.float32)
    return {**found, "labels": np.array([3, 1])}


def record_torch(n):
    import gradstep_torch
    import torch

    t = {key: torch.from_numpy(value) for key, value in n.items()}

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = torch.nn.Conv2d(3, 6, 3, 2, 1)
            self.bn = torch.nn.BatchNorm2d(6, eps=1e-3)
            self.norm = torch.nn.LayerNorm(6, eps=1e-5)
            self.hidden = torch.nn.Linear(6, 6)
            self.out = torch.nn.Linear(6, 5)

        def forward(self, x):
            y = torch.nn.functional.gelu(self.bn(self.conv(x)))
            y = self.norm(y.permute(0, 2, 3, 1))
            return self.out(torch.tanh(self.hidden(y)).mean((1, 2)))

    model = Network().eval()
    held = {
        "conv.weight": "kernel", "conv.bias": "bias", "bn.weight": "scale", "bn.bias": "shift",
        "bn.running_mean": "mean", "bn.running_var": "variance", "norm.weight": "gain",
        "norm.bias": "offset", "hidden.weight": "w1", "hidden.bias": "b1", "out.weight": "w2",
        "out.bias": "b2",
    }  # fmt: skip
    model.load_state_dict({key: t[name] for key, name in held.items()}, strict=False)
    loss = torch.nn.CrossEntropyLoss()
    path = FOLDER / "torch.gstrace"
    print(gradstep_torch.save(path, model, (t["x"],), loss=loss, targets=t["labels"], paths=False))
    _without_sources(path)


def record_jax(n):
    import gradstep_jax
    import jax
    import jax.numpy as jnp

    def network(p, x, labels):
        y = jax.lax.conv_general_dilated(
            x, p["kernel"], (2, 2), ((1, 1), (1, 1)), dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        y = y + p["bias"]
        inverse = jax.lax.rsqrt(p["variance"] + 1e-3)
        y = (y - p["mean"]) * inverse * p["scale"] + p["shift"]
        y = jax.nn.gelu(y, approximate=False)
        centre = y - y.mean(-1, keepdims=True)
        y = centre / jnp.sqrt(y.var(-1, keepdims=True) + 1e-5) * p["gain"] + p["offset"]
        logits = jnp.tanh(y @ p["w1"] + p["b1"]).mean((1, 2)) @ p["w2"] + p["b2"]
        picked = jax.nn.log_softmax(logits) * jax.nn.one_hot(labels, 5)
        return -picked.sum(-1).mean()

    p = {key: n[key] for key in n if key not in ("x", "labels")}
    p |= {"kernel": n["kernel"].transpose(2, 3, 1, 0), "w1": n["w1"].T, "w2": n["w2"].T}
    p = {key: jnp.asarray(value) for key, value in p.items()}
    path = FOLDER / "jax.gstrace"
    x = jnp.asarray(n["x"].transpose(0, 2, 3, 1))
    print(gradstep_jax.save(path, network, p, x, jnp.asarray(n["labels"]), wrt=0, paths=False))
    _without_sources(path)


def record_tensorflow(n):
    import tensorflow as tf

    class Network(tf.Module):
        def __init__(self):
            super().__init__()
            self.kernel = tf.Variable(n["kernel"].transpose(2, 3, 1, 0), name="kernel")
            self.w1, self.w2 = tf.Variable(n["w1"].T, name="w1"), tf.Variable(n["w2"].T, name="w2")
            for key in ("bias", "scale", "shift", "gain", "offset", "b1", "b2"):
                setattr(self, key, tf.Variable(n[key], name=key))
            for key in ("mean", "variance"):
                setattr(self, key, tf.Variable(n[key], name=key, trainable=False))

        @tf.function(input_signature=[
            tf.TensorSpec([None, 8, 8, 3], tf.float32, "x"),
            tf.TensorSpec([None], tf.int64, "labels"),
        ])  # fmt: skip
        def serve(self, x, labels):
            y = tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]])
            y = tf.nn.bias_add(tf.nn.conv2d(y, self.kernel, 2, "VALID"), self.bias)
            y, *_ = tf.compat.v1.nn.fused_batch_norm(
                y, self.scale, self.shift, self.mean, self.variance, 1e-3, is_training=False
            )
            y = tf.nn.gelu(y, approximate=False)
            mean, variance = tf.nn.moments(y, [-1], keepdims=True)
            y = tf.nn.batch_normalization(y, mean, variance, self.offset, self.gain, 1e-5)
            y = tf.tanh(tf.tensordot(y, self.w1, 1) + self.b1)
            logits = tf.matmul(tf.reduce_mean(y, [1, 2]), self.w2) + self.b2
            each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            return {"loss": tf.reduce_mean(each), "logits": logits}

    model, folder = Network(), FOLDER / "tensorflow"
    shutil.rmtree(folder, ignore_errors=True)
    tf.saved_model.save(model, folder, signatures=model.serve)
    (folder / "fingerprint.pb").unlink()
    shutil.rmtree(folder / "assets", ignore_errors=True)


def _without_sources(path):
    with zipfile.ZipFile(path) as file:
        members = {n: file.read(n) for n in file.namelist() if not n.startswith("sources/")}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for name, data in members.items():
            file.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED, 9)


if __name__ == "__main__":
    {"torch": record_torch, "jax": record_jax, "tensorflow": record_tensorflow}[sys.argv[1]](
        numbers()
    )
