"""A SavedModel as a document: the graph in its file, the variables and assets in its folder."""

from __future__ import annotations

import os
from pathlib import PurePath

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.garbage_collection import collector_paused
from gradstep.core.io.disk.file_bytes import read_file
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.file_errors import inside
from gradstep.core.io.message_weight import Place, fields
from gradstep.core.io.tensorflow.graphdef_proto import message, parse
from gradstep.core.io.tensorflow.saved.meta_document import Beside, meta_document
from gradstep.core.io.tensorflow.saved.meta_graph import MetaGraph, read_meta_graph

_META, _NEWEST = 2, 1
_FIRST = ("serve", "train")  # tags, of which TensorFlow's own programs take this


@collector_paused()
def from_saved_model(data: bytes, name: str = "", budget: Budget | None = None) -> Document:
    """The document of a saved_model.pb's bytes; `name` is the file's, beside which its folders are.
    Raises GradstepError: FileError, or OverBudgetError."""
    budget = budget or Budget()
    folder = os.path.dirname(name)
    try:
        _check_version(data)
        meta = _chosen([read_meta_graph(data, place, budget) for place in _places(data)])
    except GradstepError as error:
        raise inside(f"{name or 'the file'} is a SavedModel that cannot be read", error) from None

    def asset(named: str) -> bytes:
        return read_file(os.path.join(folder, "assets", PurePath(named).name), budget)

    prefix = os.path.join(folder, "variables", "variables")
    beside = Beside(prefix, "the checkpoint in its folder", asset)
    document = meta_document(meta, name, beside, budget)
    return document.with_(title=PurePath(folder).name or PurePath(name).name)


def _check_version(data: bytes) -> None:
    """The version comes first, as programs write it."""
    head = message("SavedModel")()
    parse(head, data[:2] if data[:1] == b"\x08" else b"")
    if head.saved_model_schema_version > _NEWEST:
        raise GradstepError(
            f"it is of schema version {head.saved_model_schema_version}, and {_NEWEST} is the "
            "newest that is known here",
            kind="FileError",
            hint="save it with TensorFlow 2",
        )


def _places(data: bytes) -> list[Place]:
    found = fields(data, (0, len(data)), "SavedModel")
    return [(start, end) for number, start, end in found if number == _META and start >= 0]


def _chosen(metas: list[MetaGraph]) -> MetaGraph:
    """Of several, the one for serving, or for training."""
    if not metas:
        raise GradstepError("it holds no graph", kind="FileError", hint="save the model again")
    for tag in _FIRST:
        for meta in metas:
            if tag in meta.tags:
                return meta
    return metas[0]
