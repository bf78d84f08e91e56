"""The document that a run of a sweep trained, for the debugger to go the same way."""

from __future__ import annotations

import numpy as np

from gradstep.core.data.array_files import Reading
from gradstep.core.data.value_text import read_value
from gradstep.core.document.document import Document
from gradstep.core.document.placeholder_substitution import with_feeds
from gradstep.core.engine.run.feed_values import fed_type, given_feeds
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, TensorType
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.io.checkpoint_files import CheckpointFolder
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.open_document import read
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.sweep.run_list import RunSpec
from gradstep.core.sweep.run_seed import with_seed
from gradstep.core.sweep.setting_targets import apply_settings
from gradstep.core.sweep.sweep_folder import SweepFolder

_FEED, _INIT = "--feed=", "--init="


def run_document(folder: SweepFolder, number: int) -> Document:
    """Its settings, seed and feeds put in. Where rows were fed, which the window cannot do again,
    its variables are as the run left them. Raises GradstepError."""
    spec = next((run for run in folder.record.runs if run.number == number), None)
    if spec is None:
        raise GradstepError(f"there is no run {number}", kind="LookupError")
    document = _with_words(read(folder.document, Budget()), folder.record.arguments)
    if spec.seed is not None:
        document = with_seed(document, spec.seed)
    document = apply_settings(document, spec.values, spec.seed)
    document = document.with_(title=" · ".join(filter(None, [document.title, _words(spec)])))
    return _as_left(document, folder, number) if folder.record.data else document


def _words(spec: RunSpec) -> str:
    said = [f"{name}={value}" for name, value in spec.values.items()]
    said += [f"seed {spec.seed}"] if spec.seed is not None else []
    return f"run {spec.number}: {', '.join(said)}"


def _with_words(document: Document, arguments: list[str]) -> Document:
    """What of the arguments is about the document."""
    for word in arguments:
        if word.startswith(_INIT):
            document = document.with_(init=word.removeprefix(_INIT))
    given = [w.removeprefix(_FEED).partition("=") for w in arguments if w.startswith(_FEED)]
    feeds = {name.strip(): _value(document, name.strip(), text) for name, _, text in given}
    return with_feeds(document, given_feeds(document.graph, feeds)) if feeds else document


def _value(document: Document, name: str, text: str) -> object:
    ref = TensorRef.parse(name)
    kind = fed_type(document.graph, ref) or TensorType(DType.FLOAT32)
    value: object = read_value(text, kind, ref.op, Reading())
    return value


def _as_left(document: Document, folder: SweepFolder, number: int) -> Document:
    kept = CheckpointFolder(folder.checkpoint(number), 1).newest()
    if kept is None:
        raise GradstepError(
            f"run {number} was fed rows, and has left nothing: it did not come to its end",
            kind="FileError",
            hint="open one that did",
        )
    graph, held = document.graph, kept.variables
    there = {n: v for n, v in held.items() if n in graph and graph[n].type in VARIABLES}
    trained = {name: Constant(np.asarray(value)) for name, value in there.items()}
    return document.with_(initial={**document.initial, **trained}, init="")
