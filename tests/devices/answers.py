"""How each library is asked: its own function for each of our operations.

Runs in the library's environment, which has no Gradstep.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

Ask = Callable[..., Any]


def jax_answers() -> tuple[dict[str, Ask], str]:
    """Eager, with 64 bits; and the version."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax

    jax.config.update("jax_enable_x64", True)
    jnp: Any = jax.numpy

    def label_loss(x: Any, label: Any) -> Any:
        return -jax.nn.log_softmax(x)[jnp.arange(1), label]

    asks: dict[str, Ask] = {
        "FloorDiv": lambda x, y: x // y,
        "FloorMod": lambda x, y: x % y,
        "TruncateDiv": jax.lax.div,
        "TruncateMod": jax.lax.rem,
        "LeftShift": lambda x, y: x << y,
        "RightShift": lambda x, y: x >> y,
        "Cast": lambda x, DstT: x.astype(DstT),  # noqa: N803 - as TensorFlow names it
        "ArgMax": lambda x, axis: jnp.argmax(x),
        "ArgMin": lambda x, axis: jnp.argmin(x),
        "Max": lambda x, axis: jnp.max(x, 0),
        "Min": lambda x, axis: jnp.min(x, 0),
        "Sum": lambda x, axis: jnp.sum(x, 0),
        "Prod": lambda x, axis: jnp.prod(x, 0),
        "Mean": lambda x, axis: jnp.mean(x, 0),
        "Maximum": jnp.maximum,
        "Minimum": jnp.minimum,
        "Relu": jax.nn.relu,
        "Relu6": jax.nn.relu6,
        "Sign": jnp.sign,
        "TopKV2": lambda x, k: jax.lax.top_k(x, 3),
        "GatherV2": lambda x, at, axis: x[at],
        "GatherNd": lambda x, at: x[at[..., 0]],
        "ScatterNd": lambda at, x, size: jnp.zeros(5, x.dtype).at[at[..., 0]].add(x),
        "UnsortedSegmentSum": lambda x, at, size: jax.ops.segment_sum(x, at, 5),
        "UnsortedSegmentProd": lambda x, at, size: jax.ops.segment_prod(x, at, 5),
        "OneHot": lambda at, depth, on, off: jax.nn.one_hot(at, 3, dtype=jnp.float32),
        "SparseSoftmaxCrossEntropyWithLogits": label_loss,
    }
    put = {name: _with(jnp.asarray, ask) for name, ask in asks.items()}
    return put, f"JAX {jax.__version__} on the CPU"


def torch_answers() -> tuple[dict[str, Ask], str]:
    import torch
    import torch.nn.functional as f

    asks: dict[str, Ask] = {
        "FloorDiv": lambda x, y: x // y,
        "FloorMod": lambda x, y: x % y,
        "TruncateDiv": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
        "TruncateMod": torch.fmod,
        "LeftShift": lambda x, y: x << y,
        "RightShift": lambda x, y: x >> y,
        "Cast": lambda x, DstT: x.to(getattr(torch, DstT)),  # noqa: N803 - as above
        "ArgMax": lambda x, axis: torch.argmax(x),
        "ArgMin": lambda x, axis: torch.argmin(x),
        "Max": lambda x, axis: torch.amax(x, 0),
        "Min": lambda x, axis: torch.amin(x, 0),
        "Sum": lambda x, axis: torch.sum(x, 0),
        "Prod": lambda x, axis: torch.prod(x, 0),
        "Mean": lambda x, axis: torch.mean(x, 0),
        "Maximum": torch.maximum,
        "Minimum": torch.minimum,
        "Relu": torch.relu,
        "Relu6": f.relu6,
        "Sign": torch.sign,
        "AddV2": torch.add,
        "Sub": torch.sub,
        "Mul": torch.mul,
        "RealDiv": torch.div,
        "Greater": torch.gt,
        "Less": torch.lt,
        "Equal": torch.eq,
        "Neg": torch.neg,
        "Abs": torch.abs,
        "Square": torch.square,
        "Sqrt": torch.sqrt,
        "TopKV2": lambda x, k: torch.topk(x, 3),
        "GatherV2": lambda x, at, axis: x[at.long()],
        "GatherNd": lambda x, at: x[at[..., 0].long()],
        "ScatterNd": lambda at, x, size: torch.zeros(5).index_put(
            (at[..., 0].long(),), x, accumulate=True
        ),
        "UnsortedSegmentSum": lambda x, at, size: torch.zeros(5).scatter_add(0, at.long(), x),
        "UnsortedSegmentProd": lambda x, at, size: torch.ones(5).scatter_reduce(
            0, at.long(), x, "prod"
        ),
        "OneHot": lambda at, depth, on, off: f.one_hot(at.long(), 3).float(),
        "SparseSoftmaxCrossEntropyWithLogits": lambda x, at: f.cross_entropy(
            x, at.long(), reduction="none", ignore_index=-100
        ),
    }

    def put(x: np.ndarray) -> Any:
        return torch.from_numpy(np.array(x))

    return {name: _with(put, ask) for name, ask in asks.items()}, (
        f"PyTorch {torch.__version__.partition('+')[0]} on the CPU"
    )


def tensorflow_answers() -> tuple[dict[str, Ask], str]:
    """Compiled by XLA."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    def compiled(ask: Ask) -> Ask:
        return tf.function(ask, jit_compile=True, reduce_retracing=False)

    raw: Any = tf.raw_ops
    asks: dict[str, Ask] = {
        "FloorDiv": lambda x, y: raw.FloorDiv(x=x, y=y),
        "FloorMod": lambda x, y: raw.FloorMod(x=x, y=y),
        "TruncateDiv": lambda x, y: raw.TruncateDiv(x=x, y=y),
        "TruncateMod": lambda x, y: raw.TruncateMod(x=x, y=y),
        "LeftShift": lambda x, y: raw.LeftShift(x=x, y=y),
        "RightShift": lambda x, y: raw.RightShift(x=x, y=y),
        "ArgMax": lambda x, axis: raw.ArgMax(input=x, dimension=0),
        "ArgMin": lambda x, axis: raw.ArgMin(input=x, dimension=0),
        "Max": lambda x, axis: raw.Max(input=x, axis=[0]),
        "Min": lambda x, axis: raw.Min(input=x, axis=[0]),
        "Sum": lambda x, axis: raw.Sum(input=x, axis=[0]),
        "Prod": lambda x, axis: raw.Prod(input=x, axis=[0]),
        "Mean": lambda x, axis: raw.Mean(input=x, axis=[0]),
        "Maximum": lambda x, y: raw.Maximum(x=x, y=y),
        "Minimum": lambda x, y: raw.Minimum(x=x, y=y),
        "Relu": lambda x: raw.Relu(features=x),
        "Relu6": lambda x: raw.Relu6(features=x),
        "Sign": lambda x: raw.Sign(x=x),
        "AddV2": lambda x, y: raw.AddV2(x=x, y=y),
        "Sub": lambda x, y: raw.Sub(x=x, y=y),
        "Mul": lambda x, y: raw.Mul(x=x, y=y),
        "RealDiv": lambda x, y: raw.RealDiv(x=x, y=y),
        "Greater": lambda x, y: raw.Greater(x=x, y=y),
        "Less": lambda x, y: raw.Less(x=x, y=y),
        "Equal": lambda x, y: raw.Equal(x=x, y=y),
        "Neg": lambda x: raw.Neg(x=x),
        "Abs": lambda x: raw.Abs(x=x),
        "Square": lambda x: raw.Square(x=x),
        "Sqrt": lambda x: raw.Sqrt(x=x),
        "TopKV2": lambda x, k: tuple(raw.TopKV2(input=x, k=3)),
        "GatherV2": lambda x, at, axis: raw.GatherV2(params=x, indices=at, axis=0),
        "GatherNd": lambda x, at: raw.GatherNd(params=x, indices=at),
        "ScatterNd": lambda at, x, size: raw.ScatterNd(indices=at, updates=x, shape=[5]),
        "UnsortedSegmentSum": lambda x, at, size: raw.UnsortedSegmentSum(
            data=x, segment_ids=at, num_segments=5
        ),
        "UnsortedSegmentProd": lambda x, at, size: raw.UnsortedSegmentProd(
            data=x, segment_ids=at, num_segments=5
        ),
        "OneHot": lambda at, depth, on, off: raw.OneHot(
            indices=at, depth=3, on_value=1.0, off_value=0.0
        ),
        "SparseSoftmaxCrossEntropyWithLogits": lambda x, at: (
            raw.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=at).loss
        ),
    }

    def put(x: np.ndarray) -> Any:
        """Scalars are cached by value, in which -0 is 0."""
        return tf.reshape(tf.constant(x[None]), x.shape)

    found = {name: _with(put, compiled(ask)) for name, ask in asks.items()}
    casts: dict[str, Ask] = {}

    def cast(x: np.ndarray, DstT: str) -> Any:  # noqa: N803 - as above
        if DstT not in casts:
            casts[DstT] = compiled(lambda x: raw.Cast(x=x, DstT=DstT))
        return casts[DstT](put(x))

    return {**found, "Cast": cast}, f"TensorFlow {tf.__version__}, XLA on the CPU"


def onnxruntime_answers() -> tuple[dict[str, Ask], str]:
    """Models of one node. What ONNX has no operation for, it is not asked: floored quotients and
    segments."""
    models = _OneNode()
    run = models.run

    def reduced(op: str) -> Ask:
        return lambda x, axis: run(op, x, np.array([0]), keepdims=0)

    def place(op: str) -> Ask:
        return lambda x, axis: run(op, x, axis=0, keepdims=0)

    def direct(op: str, **attrs: Any) -> Ask:
        return lambda *inputs: run(op, *inputs, **attrs)

    def cast(x: np.ndarray, DstT: str) -> Any:  # noqa: N803 - as above
        return run("Cast", x, to=models.type_of(np.dtype(DstT)))

    def scatter(at: np.ndarray, x: np.ndarray, size: Any) -> Any:
        return run("ScatterND", np.zeros(5, x.dtype), at.astype(np.int64), x, reduction="add")

    def label_loss(x: np.ndarray, label: np.ndarray) -> Any:
        return run("SoftmaxCrossEntropyLoss", x, label, reduction="none")

    f32 = np.float32
    same = "Sub Mul Greater Less Equal Neg Abs Sqrt Sign Relu".split()
    asks: dict[str, Ask] = {name: direct(name) for name in same}
    asks |= {name: place(name) for name in ("ArgMax", "ArgMin")}
    asks |= {name: reduced(f"Reduce{name}") for name in ("Max", "Min", "Sum", "Prod", "Mean")}
    asks |= {
        "AddV2": direct("Add"),
        "RealDiv": direct("Div"),
        "Maximum": direct("Max"),
        "Minimum": direct("Min"),
        "LeftShift": direct("BitShift", direction="LEFT"),
        "RightShift": direct("BitShift", direction="RIGHT"),
        "TruncateDiv": direct("Div"),
        "FloorMod": direct("Mod"),
        "TruncateMod": direct("Mod", fmod=1),
        "Square": lambda x: run("Mul", x, x),
        "Relu6": lambda x: run("Clip", x, np.array(0, f32), np.array(6, f32)),
        "TopKV2": lambda x, k: run("TopK", x, np.array([3]), outputs=2),
        "Cast": cast,
        "GatherV2": lambda x, at, axis: run("Gather", x, at, axis=0),
        "GatherNd": lambda x, at: run("GatherND", x, at.astype(np.int64)),
        "ScatterNd": scatter,
        "OneHot": lambda at, depth, on, off: run("OneHot", at, depth, np.array([off, on])),
        "SparseSoftmaxCrossEntropyWithLogits": label_loss,
    }
    put = {name: _with(np.asarray, ask) for name, ask in asks.items()}
    return put, f"ONNX Runtime {models.version} on the CPU"


LIBRARIES = {
    "jax": jax_answers,
    "torch": torch_answers,
    "tf-xla": tensorflow_answers,
    "onnxruntime": onnxruntime_answers,
}


class _OneNode:
    """Models of one node, each made once."""

    def __init__(self) -> None:
        import onnx
        import onnxruntime

        self.version = onnxruntime.__version__
        self.type_of = onnx.helper.np_dtype_to_tensor_dtype
        self._onnx, self._runtime = onnx, onnxruntime
        self._options = onnxruntime.SessionOptions()
        self._options.log_severity_level = 4
        self._sessions: dict[tuple[Any, ...], Any] = {}

    def run(self, op: str, *inputs: np.ndarray, outputs: int = 1, **attrs: Any) -> Any:
        key = (op, *((x.dtype.str, x.ndim) for x in inputs), repr(attrs))
        if key not in self._sessions:
            self._sessions[key] = self._session(op, inputs, outputs, attrs)
        found = self._sessions[key].run(None, {f"x{i}": x for i, x in enumerate(inputs)})
        return tuple(found) if outputs > 1 else found[0]

    def _session(self, op: str, inputs: tuple[np.ndarray, ...], outputs: int, attrs: Any) -> Any:
        make = self._onnx.helper
        kinds = [(self.type_of(x.dtype), [None] * x.ndim) for x in inputs]
        given = [make.make_tensor_value_info(f"x{i}", *kind) for i, kind in enumerate(kinds)]
        made = [self._onnx.ValueInfoProto(name=f"y{i}") for i in range(outputs)]
        names = [[part.name for part in parts] for parts in (given, made)]
        graph = make.make_graph([make.make_node(op, *names, **attrs)], "one", given, made)
        model = make.make_model(graph, opset_imports=[make.make_opsetid("", 18)], ir_version=9)
        try:
            return self._runtime.InferenceSession(
                model.SerializeToString(), self._options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise NotImplementedError(f"no {op} of these types") from error


def _with(put: Callable[[np.ndarray], Any], ask: Ask) -> Ask:
    return lambda *arrays, **attrs: ask(*map(put, arrays), **attrs)
