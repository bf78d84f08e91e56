"""TensorBoard's event files: records of Event messages, each with checksums.

Fields and numbers are those of tensorflow/core/util/event.proto (Apache 2.0), the framing that of
TensorFlow's record_writer.h.
"""

from __future__ import annotations

import socket
import time
from pathlib import Path
from types import TracebackType

from gradstep.core.errors import GradstepError
from gradstep.core.io.record_framing import record
from gradstep.core.ops.formats.protobuf import bytes_field, double_field, int_field

_WALL_TIME, _STEP, _FILE_VERSION, _GRAPH_DEF, _SUMMARY = 1, 2, 3, 4, 5
_VERSION = b"brain.Event:2"


class EventFile:
    """A new event file in `folder`, which is made if it is not there. Raises GradstepError
    (FileError)."""

    def __init__(self, folder: str | Path) -> None:
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.path = _free(Path(folder), f"events.out.tfevents.{_seconds()}.{_host()}")
            self._file = self.path.open("xb")
        except OSError as error:
            raise _failed(folder, error) from None
        self._add(0, bytes_field(_FILE_VERSION, _VERSION))

    def add_graph(self, graph: bytes) -> None:
        """The graph that is run, a serialized GraphDef."""
        self._add(0, bytes_field(_GRAPH_DEF, graph))

    def add_summary(self, step: int, summary: bytes) -> None:
        """A serialized Summary of what step number `step` gave."""
        self._add(step, bytes_field(_SUMMARY, summary))

    def flush(self) -> None:
        """Let those who watch the file see all that was added."""
        try:
            self._file.flush()
        except OSError as error:
            raise _failed(self.path, error) from None

    def __enter__(self) -> EventFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._file.close()
        except OSError as failure:
            if error is None:
                raise _failed(self.path, failure) from None

    def _add(self, step: int, content: bytes) -> None:
        message = double_field(_WALL_TIME, time.time()) + int_field(_STEP, step) + content
        try:
            self._file.write(record(message))
        except OSError as error:
            raise _failed(self.path, error) from None


def _seconds() -> str:
    return f"{int(time.time()):010d}"


def _host() -> str:
    return socket.gethostname() or "localhost"


def _free(folder: Path, name: str) -> Path:
    """A path that is not taken; two files may begin in one second."""
    path, number = folder / name, 0
    while path.exists():
        number += 1
        path = folder / f"{name}.{number}"
    return path


def _failed(path: str | Path, error: OSError) -> GradstepError:
    return GradstepError(
        f"cannot write event files to {path}: {error.strerror or error}",
        kind="FileError",
        hint="choose another folder for --logdir, or free some space",
    )
