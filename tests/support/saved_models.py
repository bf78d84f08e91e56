"""What TensorFlow left on disk, with values and gradients that it computed of that.

tests/data/saved_models/record.py wrote it, and says what is in it.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from gradstep.core.document.document import Document
from gradstep.core.graph.model import TensorRef
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.message_weight import fields
from gradstep.core.io.tensorflow.saved.meta_graph import read_meta_graph
from gradstep.core.ops.build.variable import VARIABLES

_FILE = Path(__file__).parents[1] / "data" / "saved_models" / "models.zip"


@dataclass(frozen=True)
class Facts:
    """open: the file or folder to open. of: the tensor that was differentiated. trained: names of
    variables. names: of a signature's inputs and outputs, the tensors."""

    open: Path
    of: str
    trained: tuple[str, ...]
    arrays: Mapping[str, np.ndarray]
    names: Mapping[str, str]

    def tensor(self, name: str) -> TensorRef:
        return TensorRef.parse(self.names.get(name, name))

    def of_kind(self, kind: str) -> dict[str, np.ndarray]:
        """Of "feed", "value" or "gradient", by name."""
        start = f"{kind}/"
        return {k[len(start) :]: v for k, v in self.arrays.items() if k.startswith(start)}


def names() -> list[str]:
    return sorted({name.partition("/")[0] for name in _members()})


def unpack(name: str, folder: Path) -> Facts:
    """The files of a case in `folder`, and what is known of them."""
    for member, data in _members().items():
        if member.startswith(f"{name}/"):
            path = folder / member
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    said = json.loads((folder / name / "facts.json").read_text())
    with np.load(io.BytesIO(_members()[f"{name}/facts.npz"]), allow_pickle=True) as held:
        arrays = dict(held)
    path = folder / name / said["open"]
    signature = _signature(path, said["signature"]) if "signature" in said else {}
    return Facts(path, said["of"], tuple(said["trained"]), arrays, signature)


def variables(document: Document, named: Any) -> dict[str, str]:
    """By what TensorFlow calls each of them, the variables of a document: Keras makes two of a
    name, the second of which is in use."""
    there = document.graph.of_types(VARIABLES)
    return {name: name if name in there else f"{name}_1" for name in named}


@cache
def _members() -> Mapping[str, bytes]:
    with zipfile.ZipFile(_FILE) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _signature(folder: Path, name: str) -> dict[str, str]:
    data = (folder / "saved_model.pb").read_bytes()
    (place,) = [(a, b) for n, a, b in fields(data, (0, len(data)), "SavedModel") if n == 2]
    held = read_meta_graph(data, place, Budget()).about.signature_def[name]
    return {key: info.name for part in (held.inputs, held.outputs) for key, info in part.items()}
