"""Blocks that PyTorch has, too: inputs and variables for both, and what ours makes of them."""

from __future__ import annotations

import subprocess
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.model import Graph
from gradstep.core.layers.block_expansion import Expansion, expand
from gradstep.core.layers.block_table import find_block
from gradstep.core.ops.build.builder import GraphBuilder, call
from gradstep.core.ops.build.indexed_slices import IndexedSlices
from gradstep.core.ops.build.variable import found_variable
from gradstep.core.ops.typing.static_values import all_axes

SCRIPT = Path(__file__).with_name("in_pytorch.py")
RECORDED = Path(__file__).parents[2] / "data" / "pytorch_blocks.npz"
Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Case:
    """shapes: of the block's inputs by name; an int among them is drawn below that number."""

    block: str
    shapes: Mapping[str, tuple[int, ...]]
    settings: Mapping[str, Any] = field(default_factory=dict)
    below: int = 0  # whole-number inputs are drawn from 0 to before this, or 1 more from 1


_LOGITS = {"logits": (4, 5), "labels": (4, 5)}
_PAIR = {"predictions": (3, 4), "labels": (3, 4)}
_IMAGE = {"inputs": (2, 6, 7, 3)}
_ATTENTION = {"query": (2, 3, 4), "key": (2, 5, 4), "value": (2, 5, 4)}
_LSTM = {"cell": "lstm", "units": 4}

CASES: dict[str, Case] = {
    "dense": Case("dense", {"inputs": (3, 4)}),
    "dense_of_rank_3": Case("dense", {"inputs": (2, 3, 4)}, {"activation": "relu"}),
    "conv2d": Case("conv2d", _IMAGE, {"strides": (2, 1)}),
    "conv2d_same": Case("conv2d", _IMAGE, {"padding": "same"}),
    "max_pool": Case("max_pool", _IMAGE),
    "avg_pool": Case("avg_pool", _IMAGE, {"pool_size": (3, 3)}),
    "batch_norm": Case("batch_norm", {"inputs": (6, 3)}),
    "batch_norm_of_images": Case("batch_norm", _IMAGE),
    "batch_norm_inference": Case("batch_norm", _IMAGE, {"is_training": False}),
    "layer_norm": Case("layer_norm", {"inputs": (2, 3, 5)}),
    "embedding": Case("embedding", {"ids": (2, 4)}, below=5),
    "basic_rnn_cell": Case("basic_rnn_cell", {"inputs": (2, 3), "state": (2, 4)}),
    "gru_cell": Case("gru_cell", {"inputs": (2, 3), "state": (2, 4)}),
    "lstm_cell": Case("lstm_cell", {"inputs": (2, 3), "c": (2, 4), "h": (2, 4)}),
    "dynamic_rnn": Case("dynamic_rnn", {"inputs": (2, 5, 3)}, _LSTM),
    "dynamic_rnn_with_lengths": Case(
        "dynamic_rnn", {"inputs": (3, 5, 3), "sequence_length": (3,)}, _LSTM
    ),
    "static_rnn": Case("static_rnn", {"inputs": (2, 4, 3)}, _LSTM),
    "softmax_cross_entropy": Case("softmax_cross_entropy", _LOGITS),
    "softmax_cross_entropy_v2": Case(
        "softmax_cross_entropy", _LOGITS, {"labels_get_gradient": True}
    ),
    "sparse_softmax_cross_entropy_loss": Case(
        "sparse_softmax_cross_entropy_loss", {"logits": (4, 5), "labels": (4,)}, below=5
    ),
    "sigmoid_cross_entropy_loss": Case("sigmoid_cross_entropy_loss", _LOGITS),
    "weighted_cross_entropy": Case("weighted_cross_entropy", _LOGITS, {"pos_weight": 3.0}),
    "mean_squared_error": Case("mean_squared_error", _PAIR),
    "absolute_difference": Case("absolute_difference", _PAIR),
    "huber_loss": Case("huber_loss", _PAIR, {"delta": 0.5}),
    "attention": Case("attention", _ATTENTION),
    "attention_causal": Case(
        "attention", dict.fromkeys(("query", "key", "value"), (2, 4, 3)), {"causal": True}
    ),
    "multi_head_attention": Case("multi_head_attention", _ATTENTION),
}


def drawn(name: str, seed: int) -> Arrays:
    """Random inputs, variables and weights of the outputs: `in/…`, `var/…`, `weight/…`."""
    case = CASES[name]
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    found = {f"in/{n}": _input(rng, case, n, shape) for n, shape in case.shapes.items()}
    made = _expanded(case, found)[1]
    for full, start in made.initial.items():
        value = start + 0.3 * rng.normal(size=start.shape)
        positive = np.abs(value) if full.endswith("variance") else value
        found[f"var/{full.removeprefix(made.scope + '/')}"] = positive.astype(start.dtype)
    for number, kind in enumerate(made.outputs.values()):
        found[f"weight/{number}"] = rng.normal(size=kind.shape.static()).astype(np.float32)
    return found


def _input(rng: np.random.Generator, case: Case, name: str, shape: tuple[int, ...]) -> np.ndarray:
    if name == "sequence_length":
        return rng.permutation(np.array([5, 1, 3], np.int32))
    if case.below and name in ("ids", "labels"):
        return rng.integers(0, case.below, shape).astype(np.int32)
    if name == "labels" and "softmax" in case.block:
        return rng.dirichlet(np.ones(shape[-1]), shape[:-1]).astype(np.float32)
    return rng.normal(size=shape).astype(np.float32)


def ours(name: str, arrays: Mapping[str, np.ndarray]) -> Arrays:
    """What the block gives: `out/…`, and `grad/…` of Σ weight · out."""
    builder, made = _expanded(CASES[name], arrays)
    outputs = [builder.get(ref) for ref in made.outputs]
    parts = [call("Sum", y * arrays[f"weight/{n}"], all_axes(y)) for n, y in enumerate(outputs)]
    of = {
        key: builder.get(key.partition("/")[2]) for key in arrays if key.startswith("in/")
        if arrays[key].dtype.kind == "f"
    }  # fmt: skip
    variables = {
        f"var/{full.removeprefix(made.scope + '/')}": found_variable(builder, full)
        for full in made.initial
    }
    wrt = {**of, **{key: v for key, v in variables.items() if v is not None and v.trainable}}
    grads = dict(zip(wrt, gradients(parts, list(wrt.values())), strict=True))
    fetches = {f"out/{n}": y for n, y in enumerate(outputs)}
    for key, grad in grads.items():
        if grad is not None:
            whole = grad.dense() if isinstance(grad, IndexedSlices) else grad
            fetches[f"grad/{key}"] = whole
    initial = {full: arrays[key] for key, full in zip(variables, made.initial, strict=True)}
    feeds = {f"{key[3:]}:0": a for key, a in arrays.items() if key.startswith("in/")}
    session = Session(builder.build(), initial=initial)
    values = session.run([y.ref for y in fetches.values()], feeds)
    return dict(zip(fetches, values, strict=True))


def _expanded(case: Case, arrays: Mapping[str, np.ndarray]) -> tuple[GraphBuilder, Expansion]:
    builder = GraphBuilder()
    sources = [
        builder.placeholder(name, str(arrays[f"in/{name}"].dtype), shape).ref
        for name, shape in case.shapes.items()
    ]
    graph: Graph = builder.build()
    made = expand(graph, find_block(case.block), sources, settings=case.settings)
    return GraphBuilder(made.graph), made


def theirs(python: Path, given: Mapping[str, Arrays]) -> dict[str, Arrays]:
    """What PyTorch gives for the inputs of several cases, run by the interpreter that has it."""
    with TemporaryDirectory() as folder:
        paths = Path(folder) / "in.npz", Path(folder) / "out.npz"
        flat = {f"{name}/{key}": a for name, arrays in given.items() for key, a in arrays.items()}
        np.savez(paths[0], **flat)
        command = [str(python), str(SCRIPT), *map(str, paths)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return grouped(dict(np.load(paths[1])))


def grouped(flat: Mapping[str, np.ndarray]) -> dict[str, Arrays]:
    """`case/key` as case -> key."""
    found: dict[str, Arrays] = {}
    for key, array in flat.items():
        case, _, rest = key.partition("/")
        found.setdefault(case, {})[rest] = array
    return found
