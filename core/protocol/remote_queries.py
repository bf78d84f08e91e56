"""What an engine on another machine and its window also say: who they are, and rows of files.

Part of the messages; see messages.py.
"""

from __future__ import annotations

from typing import ClassVar

from gradstep.core.protocol.message_base import Event, Reply, Request
from gradstep.core.protocol.message_parts import ErrorInfo


class Greet(Request, frozen=True, kw_only=True):
    """The first request to an engine on another machine. Replied to with Greeted.

    version: of the window. From here on the files that columns of a document, and lines of the
    console, name are the window's: the engine asks it for them (FileWanted)."""

    version: str


class Greeted(Reply, frozen=True, kw_only=True):
    """version: of the engine; protocol: see gradstep.core.protocol.protocol_digest."""

    version: str
    protocol: str = ""


class FileWanted(Event, frozen=True, kw_only=True):
    """The engine waits for what a column of the open document names, or a line of the console, as
    FileRows with that number.

    place: the column's text, without what is done to the rows. only_stamp: whether the file has
    changed is all that is asked. dtype, dims: of what the rows are for, as images are arranged for
    it; dims: None where the rank is not known, -1 for a size that is not. is_value: what is asked
    for is a value that a line of the console names, for a tensor of that dtype and shape."""

    is_urgent: ClassVar[bool] = True

    number: int
    place: str
    only_stamp: bool = False
    dtype: str = "float32"
    dims: list[int] | None = None
    is_value: bool = False


class FileRows(Request, frozen=True, kw_only=True):
    """What the engine asked for by FileWanted. Replied to with Done.

    stamp: of the file's state, as gradstep.core.data.data_stamp has it; None for what is no file.
    error: why there are no rows. Else raw buffer 0 has them, of that dtype and shape: the elements
    as they lie in memory, texts as a msgpack list. is_table: of a value, whether it is rows of
    cells, which take another shape."""

    number: int
    stamp: list[int] | None = None
    error: ErrorInfo | None = None
    dtype: str = ""
    shape: list[int] = []
    is_table: bool = False
