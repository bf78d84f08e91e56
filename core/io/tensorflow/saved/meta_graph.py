"""A MetaGraphDef taken apart: its graph, and what stands beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.message_weight import Place, fields, weigh
from gradstep.core.io.tensorflow.graphdef_proto import message, parse
from gradstep.core.io.tensorflow.graphdef_stream import GraphDefParts
from gradstep.core.io.tensorflow.reader_versions import GRAPH, require_readable
from gradstep.core.io.tensorflow.wire_text import node_of
from gradstep.core.ops.formats.protobuf import bytes_field

# Field -> the message in it, and what that is for people.
_PARTS = {
    1: ("meta_info_def", "MetaInfoDef", "its description"),
    3: ("saver_def", "SaverDef", "its saver"),
    7: ("object_graph_def", "SavedObjectGraph", "its objects"),
}
_GRAPH = 2
_LISTED = {4: "its collections", 5: "its signatures", 6: "its assets"}


@dataclass
class MetaGraph:
    """graph: the GraphDef. about: a MetaGraphDef of all that is small."""

    graph: GraphDefParts
    about: Any = field(default_factory=lambda: message("MetaGraphDef")())

    @property
    def is_of_objects(self) -> bool:
        """TensorFlow 2 saved it."""
        return bool(self.about.HasField("object_graph_def"))

    @property
    def tags(self) -> frozenset[str]:
        return frozenset(self.about.meta_info_def.tags)

    @property
    def ops(self) -> list[Any]:
        """OpDefs."""
        return [*self.about.meta_info_def.stripped_op_list.op]

    def nodes_in(self, collection: str) -> list[str]:
        """The names of tensors or operations in a collection; none where it holds others."""
        return [*self._collection(collection).node_list.value]

    def messages_in(self, collection: str, kind: str) -> list[Any]:
        """The messages in a collection; none where there is none such. Raises GradstepError for
        damaged ones."""
        found = []
        held = self._collection(collection)
        for data in (*held.bytes_list.value, *(each.value for each in held.any_list.value)):
            made = message(kind)()
            parse(made, data)
            found.append(made)
        return found

    def has(self, collection: str) -> bool:
        return collection in self.about.collection_def

    def _collection(self, name: str) -> Any:
        known = self.about.collection_def
        return known[name] if name in known else message("CollectionDef")()

    @property
    def assets(self) -> Mapping[str, str]:
        """The operation that gives a file's path -> the file's name in the folder of assets."""
        old = self.messages_in("saved_model_assets", "AssetFileDef")
        return {
            node_of(each.tensor_info.name): each.filename
            for each in (*self.about.asset_file_def, *old)
        }


def read_meta_graph(data: bytes, place: Place, budget: Budget) -> MetaGraph:
    """Raises GradstepError: FileError, or OverBudgetError."""
    graph, about = b"", message("MetaGraphDef")()
    for number, start, end in fields(data, place, "MetaGraphDef"):
        if start < 0:
            continue
        if number == _GRAPH:
            graph += data[start:end]
        elif number in _PARTS:
            name, kind, what = _PARTS[number]
            part = message(kind)()
            _parse(part, data, (start, end), what, budget)
            getattr(about, name).MergeFrom(part)  # also of nothing, it is there then
        elif number in _LISTED:
            budget.take(2 * (end - start), _LISTED[number])
            part = message("MetaGraphDef")()
            parse(part, bytes_field(number, data[start:end]))
            _merge(about, part)
    parts = GraphDefParts(graph, budget)
    require_readable(parts.versions, GRAPH, "its graph")
    return MetaGraph(parts, about)


def _parse(into: Any, data: bytes, place: Place, what: str, budget: Budget) -> None:
    weigh(data, place, into.DESCRIPTOR, what, budget)
    budget.take(place[1] - place[0], what)
    parse(into, data[slice(*place)])


def _merge(about: Any, part: Any) -> None:
    for key, value in part.collection_def.items():
        about.collection_def[key].CopyFrom(value)
    for key, value in part.signature_def.items():
        about.signature_def[key].CopyFrom(value)
    about.asset_file_def.extend(part.asset_file_def)
