"""An exported network opened, run and differentiated, held against ONNX Runtime and PyTorch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.model import TensorRef
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.onnx.onnx_names import Names
from gradstep.core.io.open_document import read
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.build.variable import TRAINABLE, VARIABLES

WORST = 1e-4  # relative to the largest number
_MEMORY = 4 << 30  # bytes that reading a model may take


@dataclass(frozen=True)
class ModelVerdict:
    """off: how far the outputs are from those of ONNX Runtime; weights: how many are trained, and
    without: those that have no gradient; held: how many gradients PyTorch has of the same name and
    shape, and off_back how far they are apart."""

    name: str
    off: float
    weights: int
    without: tuple[str, ...]
    held: int
    off_back: float

    @property
    def ok(self) -> bool:
        return max(self.off, self.off_back) <= WORST and not self.without

    def line(self) -> str:
        state = "ok" if self.ok else "DIFFERS"
        held = f", {self.held} of them within {self.off_back:.1e} of PyTorch's" if self.held else ""
        lost = f"; none of {', '.join(self.without[:4])}" if self.without else ""
        return (
            f"{self.name:20} outputs within {self.off:.1e}; gradients of "
            f"{self.weights - len(self.without)} of {self.weights} weights{held}{lost}  {state}"
        )


def judge_model(path: Path) -> ModelVerdict:
    """NAME.onnx, with NAME.npz beside it."""
    with np.load(path.with_suffix(".npz")) as file:
        arrays = dict(file)
    document = read(path, budget=Budget(_MEMORY))
    feeds = dict(zip(_inputs(document), _of(arrays, "in/").values(), strict=True))
    session = Session(document.graph, initial=_initial(document))
    wanted = [*_of(arrays, "out/").values()]
    found = session.run([ref.short for ref in document.fetches], feeds)
    off = max(map(_apart, found, wanted))
    weights = [*_weights(document)]
    shares = arrays.get("shares", np.ones(wanted[0].shape, np.float32))
    gradients = _gradients(document, weights, feeds, shares)
    without = tuple(name for name in weights if name not in gradients)
    theirs = {_named(k): a for k, a in _of(arrays, "gradient/").items()}
    largest = max((float(np.abs(a).max()) for a in theirs.values()), default=0.0)
    both = [
        _apart(array, theirs[name], largest / 100)
        for name, array in gradients.items()
        if name in theirs and theirs[name].shape == array.shape
    ]
    return ModelVerdict(path.stem, off, len(weights), without, len(both), max(both, default=0.0))


def _named(parameter: str) -> str:
    """As the document calls what PyTorch calls so."""
    return Names().unique(parameter.replace(".", "/"), "")


def _of(arrays: Mapping[str, np.ndarray], start: str) -> dict[str, np.ndarray]:
    return {k.removeprefix(start): v for k, v in arrays.items() if k.startswith(start)}


def _inputs(document: Document) -> Iterator[str]:
    return (f"{name}:0" for name in document.graph.of_types(["Placeholder"]))


def _initial(document: Document) -> dict[str, np.ndarray]:
    return {name: value.array for name, value in document.initial.items()}


def _weights(document: Document) -> Iterator[str]:
    graph = document.graph
    ends = graph.ancestors([document.fetches[0].op])
    for name in graph.of_types(VARIABLES):
        if graph[name].attrs.get(TRAINABLE) is not False and name in ends:
            yield name


def _gradients(
    document: Document,
    weights: list[str],
    feeds: Mapping[str, np.ndarray],
    shares: np.ndarray,
) -> dict[str, np.ndarray]:
    """Of the mean of the first output times numbers."""
    builder = GraphBuilder(document.graph)
    with builder.as_default():
        shared = builder.one("Mul", builder.get(document.fetches[0]), shares)
        flat = builder.one("Reshape", shared, np.array([-1], np.int32))
        loss = builder.one("Mean", flat, np.array([0], np.int32))
    wrt = tuple(map(TensorRef, weights))
    made = differentiate(builder.build(), GradientRequest((loss.ref,), wrt))
    there = {ref.op: g for ref in wrt if (g := made.gradients[ref]) is not None}
    session = Session(made.graph, initial=_initial(document))
    return dict(zip(there, session.run([*there.values()], feeds), strict=True))


def _apart(found: np.ndarray, wanted: np.ndarray, zero: float = 0.0) -> float:
    """Relative to the largest number of it; to `zero` where that is more."""
    if found.shape != wanted.shape:
        return np.inf
    scale = max(float(np.abs(wanted).max(initial=0)), zero, 1e-12)
    return float(np.abs(found.astype(np.float64) - wanted).max(initial=0)) / scale
