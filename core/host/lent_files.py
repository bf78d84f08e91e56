"""Files that a window lends to an engine on another machine: those that were named here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.protocol.error_records import info_of, unexpected_error
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import FileRows, FileWanted

_VALUE = re.compile(r"(?:^|[\s=])(@.*)", re.DOTALL)
Answer = tuple[FileRows, tuple[Buffer, ...]]


class LentFiles:
    """Answers what an engine asks of files. Whatever that says, nothing but what columns of the
    open document, and the line of the console that is under way, name is read: no engine elsewhere
    can look around on this machine."""

    def __init__(self) -> None:
        self._places: frozenset[str] | None = frozenset()
        self._typed = ""

    def lend(self, columns: Iterable[str] | None) -> None:
        """From here on the files of these columns' texts, and no others; None: to an engine that is
        to have no files."""
        places = None if columns is None else [text.partition("|")[0].strip() for text in columns]
        self._places = None if places is None else frozenset(places)

    def lend_typed(self, line: str) -> None:
        """From here on also the file that this line names as a value, and no other line's; "" for
        none. To be called with what the user typed, and nothing that an engine said."""
        found = _VALUE.search(line)
        self._typed = found[1].partition("|")[0].strip() if found else ""

    def answer(self, wanted: FileWanted) -> Answer:
        """What is asked for, or why it cannot be had. Reads files: not for the main thread."""
        number = wanted.number
        try:
            places = self._places
            if places is None or wanted.place not in {*places, self._typed}:
                raise _not_lent(wanted.place, places is None)
            if wanted.only_stamp:
                return FileRows(number=number, stamp=_stamp(wanted.place)), ()
            return _rows(wanted)
        except GradstepError as error:
            return FileRows(number=number, error=info_of(error)), ()
        except Exception as error:
            return FileRows(number=number, error=unexpected_error(error)), ()


def _shape(dims: Sequence[int] | None) -> Shape:
    return Shape(None) if dims is None else Shape.of(*(None if n < 0 else n for n in dims))


def _stamp(place: str) -> list[int] | None:
    from gradstep.core.data.data_stamp import data_stamp

    found = data_stamp(place)
    return None if found is None else list(found)


def _rows(wanted: FileWanted) -> Answer:
    import numpy as np
    from msgspec import msgpack

    from gradstep.core.data.array_files import Reading
    from gradstep.core.data.opened_data import file_rows
    from gradstep.core.data.row_packing import as_tensor
    from gradstep.core.data.value_text import read_file
    from gradstep.core.io.disk.memory_budget import Budget
    from gradstep.core.protocol.tensor_bytes import pack

    budget = Budget()
    kind = TensorType(DType(wanted.dtype), _shape(wanted.dims))
    is_table = False
    if wanted.is_value:
        found, is_table = read_file(wanted.place[1:], kind, Reading(budget=budget))
    else:
        found = file_rows(wanted.place, kind, Reading(budget=budget))
    if isinstance(found, np.memmap):  # of which nothing was read yet
        budget.take(found.nbytes, f"the rows of {wanted.place[1:]}, which the engine is sent")
    array = as_tensor(found)
    reply = FileRows(
        number=wanted.number,
        dtype=DType.of(array.dtype).value,
        shape=list(array.shape),
        is_table=is_table,
    )
    if array.dtype.hasobject:  # texts stay texts
        return reply, (msgpack.encode(array.ravel().tolist()),)
    return reply, (pack(array),)


def _not_lent(place: str, confined: bool) -> GradstepError:
    nobody = "neither a column of the open document nor the line in the console names it"
    why = "the engine has no files" if confined else nobody
    return GradstepError(
        f"{place[1:]} is not lent: {why}", kind="FileError", hint="name it in the Data panel"
    )
