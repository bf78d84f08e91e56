"""Writing a checkpoint of TensorFlow: one file of data and its index, the bytes that it writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.io.checksum import crc32c, masked
from gradstep.core.io.disk.atomic_write import replace_file, write_file
from gradstep.core.io.tensorflow.bundle_entries import HEADER, Entry, entry_bytes, header_bytes
from gradstep.core.io.tensorflow.bundle_texts import texts_bytes
from gradstep.core.io.tensorflow.graphdef_proto import TYPE_NUMBERS
from gradstep.core.io.tensorflow.sorted_table_writer import table_bytes
from gradstep.core.io.tensorflow.tensor_bundle import INDEX, data_name

Piece = tuple[bytes | memoryview, int]  # what is stored, and its checksum


def write_bundle(prefix: str, tensors: Mapping[str, np.ndarray]) -> None:
    """Write `prefix.index` and `prefix.data-00000-of-00001`. The index comes last, so that one that
    is there is of the data beside it. Texts are bytes, or UTF-8. Raises GradstepError
    (FileError)."""
    names = sorted(tensors, key=str.encode)
    index = [(HEADER, header_bytes())]

    def write(stream: IO[bytes]) -> None:
        del index[1:]  # where it is written once more, in place
        offset = 0
        for name in names:
            data, crc = _stored(tensors[name])
            stream.write(data)
            entry = _entry(tensors[name], offset, len(data), masked(crc))
            index.append((name.encode(), entry_bytes(entry)))
            offset += len(data)

    with suppress(OSError):  # what may not be removed may not be written, which is said
        Path(prefix + INDEX).unlink()
    write_file(data_name(prefix, 0, 1), write)
    replace_file(prefix + INDEX, table_bytes(index))


def _stored(array: np.ndarray) -> Piece:
    if array.dtype == object:
        return texts_bytes([*_texts(array)])
    plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    data = plain.reshape(-1).view(np.uint8).data
    return data, crc32c(data)


def _texts(array: np.ndarray) -> Iterator[bytes]:
    for text in array.ravel().tolist():
        yield text.encode() if isinstance(text, str) else text


def _entry(array: np.ndarray, offset: int, size: int, checksum: int) -> Entry:
    number = TYPE_NUMBERS[DType.of(array.dtype)]
    return Entry(number, array.shape, 0, offset, size, checksum)
