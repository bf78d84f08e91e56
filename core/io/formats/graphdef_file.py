"""TensorFlow's graphs as GraphDefs, binary and as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradstep.core.io.format_record import Format
from gradstep.core.io.sniff import file_signatures as signs

if TYPE_CHECKING:
    from gradstep.core.document.document import Document
    from gradstep.core.io.disk.memory_budget import Budget

_TITLE = "TensorFlow GraphDef"
_KEEPS = ("overrides", "stops", "initial", "init", "devices")


def _read(data: bytes, name: str, budget: Budget) -> Document:
    from gradstep.core.io.tensorflow.graphdef_import import from_pb

    return from_pb(data, name, budget)


def _read_text(data: bytes, name: str, budget: Budget) -> Document:
    from gradstep.core.io.tensorflow.graphdef_import import from_pbtxt

    return from_pbtxt(data, name, budget)


def _write(document: Document) -> bytes:
    from gradstep.core.io.tensorflow.graphdef_export import to_pb

    return to_pb(document)


def _write_text(document: Document) -> bytes:
    from gradstep.core.io.tensorflow.graphdef_export import to_pbtxt

    return to_pbtxt(document)


FORMATS = (
    Format(
        "graphdef",
        "a TensorFlow GraphDef",
        signs.is_graphdef,
        suffixes=(".pb",),
        title=_TITLE,
        read=_read,
        write=_write,
        keeps=_KEEPS,
    ),
    Format(
        "graphdef_text",
        "a TensorFlow GraphDef as text",
        signs.proto_text("node", "library", "versions"),
        suffixes=(".pbtxt",),
        title=_TITLE,
        read=_read_text,
        write=_write_text,
        keeps=_KEEPS,
        by_name=True,
    ),
)
