"""Where gradients are looked at from the command line: at the document's first run."""

from __future__ import annotations

from core.cli.loading import Loaded, start
from core.engine.backend import Backend
from core.engine.resolve import storage_name
from core.host.situation import Situation
from core.io.document import CodeKind
from core.io.requests import main_request
from core.ops.variable import VARIABLES


def situation(loaded: Loaded, backend: Backend) -> Situation:
    """The document's main request at its feeds and its variables' first values. Raises
    GradstepError."""
    document = loaded.document
    store = start(loaded, document.graph, backend, loaded.initial()).store
    given = dict(loaded.feeds())
    for op in document.graph:
        value = store.get(storage_name(op)) if op.type in VARIABLES else None
        if value is not None:
            given[op.output()] = backend.get(value)
    request = main_request(document)
    return Situation(document.graph, request, loaded.of_kind(CodeKind.GRADIENT), given)
