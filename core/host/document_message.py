"""A document and what is known of its types, as a message with raw buffers, and back.

Its records are the file's own (gradstep.core.io.native.file_schema); large tensors go as they lie
in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from gradstep.core.document.document import Document
from gradstep.core.document.placeholder_substitution import with_placeholders
from gradstep.core.errors import GradstepError
from gradstep.core.garbage_collection import collector_paused
from gradstep.core.graph.dtypes import DType, TensorType, array_bytes
from gradstep.core.graph.model import Constant, Operation
from gradstep.core.graph.problems import Problem
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.native import file_schema
from gradstep.core.io.native.attribute_records import TensorFiles
from gradstep.core.io.native.document_records import put_together, take_apart
from gradstep.core.ops.typing.inference import Inference, declare
from gradstep.core.ops.typing.tensor_type_dict import TensorTypes
from gradstep.core.ops.typing.type_memo import intern_type
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.message_base import Message

_UNREADABLE = (
    msgspec.DecodeError, RecursionError, ValueError, TypeError, IndexError, KeyError,
)  # fmt: skip


class Array(msgspec.Struct, frozen=True, array_like=True):
    """A tensor in a buffer: its name in the records, which buffer, and how it lies there."""

    name: str
    buffer: int
    dtype: DType
    shape: list[int]


class DocumentSent(Message, frozen=True, kw_only=True):
    """Buffers: document.json, view.json, the types (Known), then texts and arrays by name."""

    texts: dict[str, int]
    arrays: list[Array]


class Known(msgspec.Struct, frozen=True, array_like=True):
    """An Inference. kinds: the types there are; of: operation -> the number of each output's type,
    -1 for none; small: operation -> its value, where no Const holds it, of whole numbers."""

    kinds: list[TensorType]
    of: dict[str, list[int]]
    constants: list[str]
    small: dict[str, tuple[str, list[int], bytes]]
    problems: list[Problem]


class _Arrays(TensorFiles):
    """Large tensors by a name, as arrays."""

    def __init__(self) -> None:
        super().__init__()
        self.arrays: dict[str, np.ndarray] = {}
        self._known: dict[int, str] = {}

    def _file(self, array: np.ndarray) -> str:
        name = self._known.setdefault(id(array), f"tensors/{len(self._known)}")
        self.arrays[name] = array
        return name


class _Members:
    """Where the records' large tensors and texts are read from."""

    def __init__(self, message: DocumentSent, buffers: Sequence[Buffer]) -> None:
        self._texts = {name: buffers[at] for name, at in message.texts.items()}
        self._arrays = {one.name: _array(one, buffers) for one in message.arrays}

    def text(self, name: str) -> str:
        return bytes(self._texts[name]).decode()

    def tensor(self, name: str) -> np.ndarray:
        return self._arrays[name]


@collector_paused()
def pack(document: Document, inference: Inference) -> tuple[DocumentSent, list[Buffer]]:
    """`document` and the types of its graph, as it is fed. Raises GradstepError for what a file
    cannot hold."""
    files = _Arrays()
    written = take_apart(document, files)
    encode = msgspec.json.encode
    buffers: list[Buffer] = [
        encode(written.document),
        encode(written.view),
        msgspec.msgpack.encode(_known(document, inference)),
    ]
    texts: dict[str, int] = {}
    for name, text in written.members.items():
        texts[name] = len(buffers)
        buffers.append(text)
    arrays: list[Array] = []
    for name, array in files.arrays.items():
        arrays.append(Array(name, len(buffers), DType.of(array.dtype), list(array.shape)))
        buffers.append(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return DocumentSent(texts=texts, arrays=arrays), buffers


@collector_paused()
def unpack(
    message: DocumentSent, buffers: Sequence[Buffer], budget: Budget
) -> tuple[Document, Inference]:
    """The inverse of `pack`. Nothing in it is trusted to be right. Raises GradstepError."""
    try:
        for buffer in buffers[:2]:
            budget.take_json(buffer, "the document")
        record = msgspec.json.decode(buffers[0], type=file_schema.DocumentRecord)
        view = msgspec.json.decode(buffers[1], type=file_schema.ViewRecord)
        known = msgspec.msgpack.decode(buffers[2], type=Known)
        document = put_together(record, view, _Members(message, buffers))
        graph = with_placeholders(document).graph
        inference = _inference(known, graph.operations)
    except _UNREADABLE as error:
        raise GradstepError(
            f"the process that reads files sent what is no document: {error}",
            kind="ProtocolError",
            hint="open the file again",
        ) from None
    declare(graph, inference)
    return document, inference


def _known(document: Document, inference: Inference) -> Known:
    graph = with_placeholders(document).graph
    numbers: dict[TensorType, int] = {}
    of = {
        name: [-1 if kind is None else numbers.setdefault(kind, len(numbers)) for kind in kinds]
        for name, kinds in inference.types.of.items()
    }
    held = {name for name in inference.constants if _held(graph.operations[name]) is not None}
    small = {
        name: (array.dtype.str, list(array.shape), array.tobytes())
        for name, array in inference.constants.items()
        if name not in held
    }
    return Known(list(numbers), of, sorted(held), small, list(inference.problems))


def _inference(known: Known, operations: Mapping[str, Operation]) -> Inference:
    kinds = [*map(intern_type, known.kinds), None]  # the last one is number -1
    of = {name: tuple(kinds[number] for number in numbers) for name, numbers in known.of.items()}
    constants: dict[str, np.ndarray] = {}
    for name in known.constants:
        if (array := _held(operations[name])) is not None:
            constants[name] = array
    for name, (dtype, shape, data) in known.small.items():
        constants[name] = np.frombuffer(data, np.dtype(dtype)).reshape(shape)
    return Inference(TensorTypes(of), constants, tuple(known.problems))


def _held(op: Operation) -> np.ndarray | None:
    """The value of a Const."""
    value: Any = op.attrs.get("value") if op.type == "Const" else None
    return value.array if isinstance(value, Constant) else None


def _array(one: Array, buffers: Sequence[Buffer]) -> np.ndarray:
    """An array where it came, which nobody writes to."""
    array_bytes(one.shape, one.dtype.numpy.itemsize)
    array = np.frombuffer(buffers[one.buffer], one.dtype.numpy).reshape(one.shape)
    array.setflags(write=False)
    return array
