"""What a document's data feeds its placeholders: its batches, or what keeps them from being had."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gradstep.core.data.array_files import Reading
from gradstep.core.data.opened_data import OpenedData, fed_kinds, open_data
from gradstep.core.data.value_text import RowsMisfitError
from gradstep.core.debug.history.batches import Batches
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant, Graph, TensorRef
from gradstep.core.graph.problems import DATA, DATA_ROWS, Problem
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.program.sandbox import is_confined


def open_batches(
    document: Document, graph: Graph, before: Batches | None = None
) -> OpenedData | None:
    """None where the document has no data. before: those before an edit. Raises GradstepError."""
    if document.data is None:
        return None
    kinds = fed_kinds(document, graph)
    known = before if isinstance(before, OpenedData) else None
    return open_data(document.data, kinds, Reading(budget=Budget(), packed=document.packed), known)


def find_batches(
    document: Document, graph: Graph, before: Batches | None = None
) -> tuple[OpenedData | None, list[Problem]]:
    """The same, with a problem in place of an error: then what it would feed is not fed at all, as
    other numbers would be wrong."""
    try:
        return open_batches(document, graph, before), []
    except GradstepError as error:
        if is_confined() and error.kind == "FileError":
            error.hint = (
                "without files, Python and its engine have the built-in sets, and rows that are "
                "packed into the document"
            )
        misfits = isinstance(error, RowsMisfitError)
        return None, [Problem.of(error, DATA_ROWS if misfits else DATA)]


def own_feeds(document: Document) -> Mapping[str, Constant]:
    """The values that the document feeds in every run: what data feeds is fed that."""
    if document.data is None:
        return document.feeds
    columns = {TensorRef.parse(name) for name in document.data.columns}
    return {n: v for n, v in document.feeds.items() if TensorRef.parse(n) not in columns}


def first_feeds(batches: Batches | None) -> Mapping[TensorRef, np.ndarray]:
    """What run 0 is fed of them."""
    return {} if batches is None else batches.feeds_at(0)
