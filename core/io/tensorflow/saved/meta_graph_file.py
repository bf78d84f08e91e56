"""A MetaGraph in a file of its own, as a Saver writes it beside a checkpoint: `model.ckpt.meta`."""

from __future__ import annotations

import os
from pathlib import PurePath

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.garbage_collection import collector_paused
from gradstep.core.io.disk.file_bytes import read_file
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.file_errors import inside
from gradstep.core.io.tensorflow.saved.meta_document import Beside, meta_document
from gradstep.core.io.tensorflow.saved.meta_graph import read_meta_graph

SUFFIX = ".meta"


@collector_paused()
def from_meta_graph(
    data: bytes, name: str = "", budget: Budget | None = None, has_checkpoint: bool = True
) -> Document:
    """The document of a MetaGraphDef's bytes; `name` is the file's, beside which a checkpoint may
    be. has_checkpoint: whether one that is called as the file is the graph's. Raises
    GradstepError: FileError, or OverBudgetError."""
    budget = budget or Budget()
    try:
        meta = read_meta_graph(data, (0, len(data)), budget)
    except GradstepError as error:
        raise inside(f"{name or 'the file'} is a MetaGraph that cannot be read", error) from None

    def asset(named: str) -> bytes:
        return read_file(os.path.join(os.path.dirname(name), PurePath(named).name), budget)

    prefix = name.removesuffix(SUFFIX) if has_checkpoint else ""
    return meta_document(meta, name, Beside(prefix, PurePath(prefix).name, asset), budget)
