"""A MetaGraph as a document: what its collections say is taken, and not guessed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.debug.concurrency.thread_state import Thread
from gradstep.core.document.document import Document
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.tensorflow.functions.custom_gradients import CustomGradients
from gradstep.core.io.tensorflow.functions.dense_lists import said_of_lists
from gradstep.core.io.tensorflow.graphdef_import import (
    document_of,
    flat_graph,
    functions_for,
    gradients_written,
)
from gradstep.core.io.tensorflow.saved.meta_graph import MetaGraph
from gradstep.core.io.tensorflow.saved.saved_functions import saved_calls
from gradstep.core.io.tensorflow.saved.saved_places import saved_places, without_saving
from gradstep.core.io.tensorflow.saved.saved_values import (
    SavedValues,
    has_checkpoint,
    said_of,
    saved_values,
)
from gradstep.core.io.tensorflow.saved.signature_notes import (
    INIT,
    distinct,
    entry_points,
    outputs_of,
    said_of_signatures,
)
from gradstep.core.io.tensorflow.saved.text_tables import with_text_tables
from gradstep.core.io.tensorflow.saved.trained_variables import trained_as_said
from gradstep.core.io.tensorflow.wire_text import node_of
from gradstep.core.ops.build.variable import VARIABLES

_INITS = ("saved_model_main_op", "legacy_init_op")


@dataclass(frozen=True)
class Beside:
    """What lies beside the graph. prefix: what the names of its checkpoint's files begin with, ""
    for none; called: that, for people; asset: the bytes of a file among its assets, by its name."""

    prefix: str
    called: str
    asset: Callable[[str], bytes]


def meta_document(meta: MetaGraph, name: str, beside: Beside, budget: Budget) -> Document:
    """Raises GradstepError: FileError, OverBudgetError."""
    objects = meta.about.object_graph_def
    gradients = CustomGradients(meta.graph.library, objects, meta.graph.node)
    whole = flat_graph(meta.graph, name, budget, meta.ops, gradients)
    points, same = distinct(entry_points(meta.about.signature_def, whole), meta.graph)
    if meta.is_of_objects and not points:
        calls = saved_calls(meta, saved_places(whole))
        whole = flat_graph(calls, name, budget, meta.ops, gradients)
        points = entry_points(calls.signatures, whole)
    graph = _without_what_is_not_run(whole, meta, points)
    graph = with_text_tables(graph, meta.assets, beside.asset)
    saved, places = SavedValues({}), saved_places(whole)
    if beside.prefix and has_checkpoint(beside.prefix):
        saved = saved_values(graph, places, beside.prefix, budget)
    document = document_of(graph, name, functions_for(graph, meta.graph.library))
    document = document.with_(graph=trained_as_said(document.graph, meta, places))
    document = _run_as_said(document, meta, points, saved)
    own = gradients_written(document.graph, gradients, name, budget)
    notes = [*_notes(meta, points, same, saved, beside, graph), *own.notes(), *said_of_lists(graph)]
    return document.with_(code=own.items, note="\n\n".join(notes))


def _without_what_is_not_run(graph: Graph, meta: MetaGraph, points: dict[str, Any]) -> Graph:
    """Without saving; of what TensorFlow 2 saved, only what its signatures need."""
    if not meta.is_of_objects or not points:
        return without_saving(graph)
    ends = [ref.op for one in points.values() for ref in outputs_of(one)]
    fed = (node_of(info.name) for one in points.values() for info in one.inputs.values())
    needed = graph.ancestors([*ends, *fed, *_main_op(meta, graph)])
    return Graph.of(op for op in graph if op.name in needed)


def _main_op(meta: MetaGraph, graph: Graph) -> list[str]:
    """What is run once before anything else, if there is such an operation that does something."""
    named = [name for key in _INITS for name in meta.nodes_in(key)]
    said = meta.about.signature_def
    if INIT in said:
        named += [info.name for info in said[INIT].outputs.values()]
    there = map(node_of, named)
    return [name for name in there if name in graph and graph[name].control_inputs][:1]


def _run_as_said(
    document: Document, meta: MetaGraph, points: dict[str, Any], saved: SavedValues
) -> Document:
    """What a run computes, what is run before, and what beside it."""
    graph = document.graph
    trains = tuple(n for n in dict.fromkeys(meta.nodes_in("train_op")) if n in graph)
    fetches = outputs_of(next(iter(points.values()))) if points else ()
    losses = tuple(_refs(meta.nodes_in("losses"), graph))
    return document.with_(
        init=_init(document, meta, saved),
        initial=saved.values,
        fetches=fetches or losses,
        targets=trains if trains or fetches else document.targets,
        threads=_threads(meta, graph) if meta.has("queue_runners") else document.threads,
        request=_request(document, losses),
    )


def _init(document: Document, meta: MetaGraph, saved: SavedValues) -> str:
    """What runs first: what the program says, which fills tables; what gives variables their first
    values only where some have no saved ones."""
    if not saved.values:
        return document.init
    said = _main_op(meta, document.graph)
    return said[0] if said else document.init if saved.missing else ""


def _request(document: Document, losses: tuple[TensorRef, ...]) -> GradientRequest:
    """The gradients of the losses, where the graph has none."""
    return GradientRequest(losses) if losses and not document.imported else document.request


def _refs(names: Iterable[str], graph: Graph) -> Iterable[TensorRef]:
    return (ref for ref in map(TensorRef.parse, names) if ref.op in graph)


def _threads(meta: MetaGraph, graph: Graph) -> tuple[Thread, ...]:
    """What fills queues, as the program's QueueRunners do: one thread for each of their
    operations."""
    return tuple(
        Thread(name, (name,), closes=runner.close_op_name if runner.close_op_name in graph else "")
        for runner in meta.messages_in("queue_runners", "QueueRunnerDef")
        for name in runner.enqueue_op_name
        if name in graph
    )


def _notes(
    meta: MetaGraph,
    points: dict[str, Any],
    same: Mapping[str, str],
    saved: SavedValues,
    beside: Beside,
    graph: Graph,
) -> Iterable[str]:
    by = meta.about.meta_info_def.tensorflow_version
    what = "A SavedModel" if meta.tags else "A MetaGraph"
    tags = f" ({', '.join(sorted(meta.tags)):.80})" if meta.tags else ""
    yield f"{what} of TensorFlow{f' {by:.40}' if by else ''}{tags}."
    if points.keys() - meta.about.signature_def.keys():
        yield "It has no signatures: these are its functions, each called once."
    yield from said_of_signatures(points)
    yield from (f"Signature {one:.80} is as {other:.80}." for one, other in same.items())
    yield from said_of(saved, beside.called)
    if meta.is_of_objects and not points:
        yield (
            "It has no signatures, and no functions that could be called without TensorFlow: "
            "save it with tf.saved_model.save(model, folder, signatures=model.function)."
        )
    if not saved.values and graph.of_types(VARIABLES):
        why = f": there is no checkpoint {beside.prefix}" if beside.prefix else ""
        yield f"Its variables have no values{why}. Graph > Restore variables takes them from one."
