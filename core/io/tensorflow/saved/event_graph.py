"""The graph in an event file of TensorBoard, which a summary writer was given.

Fields and numbers are those of tensorflow/core/util/event.proto (Apache 2.0).
"""

from __future__ import annotations

from pathlib import PurePath

from gradstep.core.document.document import Document
from gradstep.core.garbage_collection import collector_paused
from gradstep.core.io.disk.file_bytes import cannot_open
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.record_framing import Records
from gradstep.core.io.tensorflow.graphdef_import import from_pb
from gradstep.core.io.tensorflow.saved.meta_graph_file import from_meta_graph
from gradstep.core.ops.formats.protobuf import every_field

_GRAPH, _META_GRAPH = 4, 9


@collector_paused()
def from_event_file(data: bytes, name: str = "", budget: Budget | None = None) -> Document:
    """The document of the last graph in an event file's bytes, with what its program knew of it
    where that was written as well. Raises GradstepError: FileError, or OverBudgetError."""
    records, found = Records(data), dict[int, bytes]()
    for record in records:
        found |= _graphs(record)
    budget = budget or Budget()
    if _META_GRAPH in found:
        document = from_meta_graph(found[_META_GRAPH], name, budget, has_checkpoint=False)
    elif _GRAPH in found:
        document = from_pb(found[_GRAPH], name, budget)
    else:
        ended = f", {records.ended}," if records.ended else ""
        raise cannot_open(
            name,
            f"it is an event file of TensorBoard{ended} in which there is no graph",
            "its curves are shown beside those of a training (Curves, in its panel); to have the "
            "graph in it, give it to the writer: tf.compat.v1.summary.FileWriter(folder, graph)",
        )
    return document.with_(title=PurePath(name).name)


def _graphs(record: bytes) -> dict[int, bytes]:
    """Those of one event; none of what is no event."""
    try:
        fields = [*every_field(record)]
    except ValueError:
        return {}
    return {n: v for n, v in fields if n in (_GRAPH, _META_GRAPH) and isinstance(v, bytes) and v}
