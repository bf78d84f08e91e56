"""GraphDefs that TensorFlow 2.21 wrote (v1 mode, control flow v1), with runs that it recorded.

The archives in tests/data/tensorflow hold NAME.pb and NAME.json: the init operation ("" for none)
and steps of feeds, targets and fetches with their values, all in one session.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gradstep.core.document.document import Document
from gradstep.core.graph.dtypes import DType
from gradstep.core.io.native.tensor_json import from_json
from gradstep.core.io.tensorflow.graphdef_import import from_pb

_FOLDER = Path(__file__).parents[1] / "data" / "tensorflow"


class Step(NamedTuple):
    """One Session.run."""

    feeds: Mapping[str, np.ndarray]
    targets: list[str]
    fetches: Mapping[str, np.ndarray]


@cache
def _members() -> Mapping[str, bytes]:
    found: dict[str, bytes] = {}
    for path in sorted(_FOLDER.glob("*.zip")):
        with zipfile.ZipFile(path) as archive:
            found |= {name: archive.read(name) for name in archive.namelist()}
    return found


def names() -> list[str]:
    return [name.removesuffix(".pb") for name in _members() if name.endswith(".pb")]


def graph_bytes(name: str) -> bytes:
    """The binary GraphDef."""
    return _members()[f"{name}.pb"]


@cache
def document(name: str) -> Document:
    """The graph as it is read; shared, as it is frozen."""
    return from_pb(graph_bytes(name), f"{name}.pb")


def initializer(name: str) -> str:
    return json.loads(_members()[f"{name}.json"])["init"] or ""


def steps(name: str) -> Iterator[Step]:
    for step in json.loads(_members()[f"{name}.json"])["steps"]:
        yield Step(_arrays(step["feeds"]), step["targets"], _arrays(step["fetches"]))


def _arrays(recorded: Mapping[str, Any]) -> dict[str, np.ndarray]:
    return {
        ref: from_json(DType(tensor["dtype"]), tensor["shape"], tensor["data"])
        for ref, tensor in recorded.items()
    }
