"""ONNX's models, binary; as text they are only known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradstep.core.io.format_record import Format
from gradstep.core.io.sniff import file_signatures as signs

if TYPE_CHECKING:
    from gradstep.core.document.document import Document
    from gradstep.core.io.disk.memory_budget import Budget

_TEXT = "write it as it is made: onnx.save(onnx.parser.parse_model(text), 'model.onnx')"


def _read(data: bytes, name: str, budget: Budget) -> Document:
    from gradstep.core.io.onnx.onnx_document import from_onnx

    return from_onnx(data, name, budget)


FORMATS = (
    Format(
        "onnx",
        "an ONNX model",
        signs.is_onnx,
        suffixes=(".onnx",),
        title="ONNX models",
        read=_read,
        by_name=True,
        has_parts=True,
    ),
    Format(
        "onnx_text",
        "an ONNX model as text",
        signs.says(r"(?s)\s*(<\s*)?ir_version\s*:"),
        todo=_TEXT,
    ),
)
