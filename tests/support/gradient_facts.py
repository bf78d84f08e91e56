"""Training graphs that TensorFlow wrote, with what it said of their gradients while making them.

tests/data/gradients/graphs.zip holds NAME.pb and NAME.json; record.py beside it says what is in
them, and makes them.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gradstep.core.autodiff.reverse.contributions import Slices
from gradstep.core.document.document import Document
from gradstep.core.graph.model import Constant, Edge, TensorRef
from gradstep.core.io.tensorflow.graphdef_import import from_pb
from gradstep.core.ops.typing.inference import infer_declared

_FILE = Path(__file__).parents[1] / "data" / "gradients" / "graphs.zip"

Held = TensorRef | Slices | None


class Call(NamedTuple):
    """One call of tf.gradients. gradients: of each tensor that it came to; edges: what went back
    over each wire; xs: what it returned."""

    scope: str
    of: tuple[TensorRef, ...]
    xs: Mapping[TensorRef, Held]
    gradients: Mapping[TensorRef, Held]
    edges: Mapping[Edge, Held]


@cache
def _members() -> Mapping[str, bytes]:
    with zipfile.ZipFile(_FILE) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def names() -> list[str]:
    """Graphs with gradients in them."""
    every = [name.removesuffix(".pb") for name in _members() if name.endswith(".pb")]
    return [name for name in every if _said(name)["calls"]]


def graph_bytes(name: str) -> bytes:
    """The binary GraphDef."""
    return _members()[f"{name}.pb"]


@cache
def document(name: str) -> Document:
    """The graph as it is read; shared, as it is frozen."""
    return from_pb(graph_bytes(name), f"{name}.pb")


def fed(name: str) -> Document:
    """The same with something fed to every placeholder."""
    read = document(name)
    return read.with_(feeds={str(ref): Constant(value) for ref, value in feeds(read).items()})


def feeds(document: Document) -> dict[TensorRef, np.ndarray]:
    """Numbers for every placeholder, the same each time."""
    rng, types = np.random.default_rng(1), infer_declared(document.graph).types
    holes = [op.output() for op in document.graph if op.type == "Placeholder"]
    return {ref: _numbers(rng, types[ref].shape.dims, types[ref].dtype.numpy) for ref in holes}


def _numbers(rng: np.random.Generator, dims: Any, dtype: Any) -> np.ndarray:
    shape = [4 if size is None else size for size in dims or ()]
    if np.issubdtype(dtype, np.integer):
        return rng.integers(0, 3, shape).astype(dtype)
    return rng.normal(size=shape).astype(dtype)


@cache
def _said(name: str) -> Any:
    return json.loads(_members()[f"{name}.json"])


def trainable(name: str) -> set[str]:
    return set(_said(name)["trainable"])


@cache
def calls(name: str) -> Sequence[Call]:
    return [
        Call(
            fact["scope"],
            tuple(map(TensorRef.parse, fact["of"])),
            {TensorRef.parse(ref): _held(held) for ref, held in fact["xs"].items()},
            {TensorRef.parse(ref): _held(held) for ref, held in fact["gradients"].items()},
            {Edge.parse(edge): _held(held) for edge, held in fact["edges"].items()},
        )
        for fact in _said(name)["calls"]
    ]


def _held(fact: Any) -> Held:
    if isinstance(fact, dict):
        return Slices(TensorRef.parse(fact["values"]), TensorRef.parse(fact["indices"]))
    return None if fact is None else TensorRef.parse(fact)
