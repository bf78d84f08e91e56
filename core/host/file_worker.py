"""The process that reads one file of a stranger's, and ends.

Started as `python -m gradstep.core.host.file_worker`.

It is asked on standard input and answers on standard output. What it needs is imported before, so
that it can be confined when the first byte of the file is looked at.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import PurePath
from typing import BinaryIO

import msgspec

from gradstep.core.document.placeholder_substitution import with_placeholders
from gradstep.core.errors import GradstepError
from gradstep.core.host.document_message import DocumentSent, pack
from gradstep.core.host.process.standard_streams import take_over_stdio
from gradstep.core.io.disk.files_beside import files_beside, files_in
from gradstep.core.io.disk.memory_budget import Budget, OverBudgetError
from gradstep.core.io.format_table import formats
from gradstep.core.io.open_document import document_in, to_be_read
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.program import sandbox
from gradstep.core.protocol import framing
from gradstep.core.protocol.error_records import info_of, unexpected_error
from gradstep.core.protocol.message_base import Message
from gradstep.core.protocol.message_parts import ErrorInfo

SPARE = 256 << 20  # bytes besides those of the file, in which Python does its work


class ReadFile(Message, frozen=True, kw_only=True):
    """Read the file at `path`. limit: bytes of memory that it may take; seconds: of a processor."""

    path: str
    limit: int
    seconds: int


class NotRead(Message, frozen=True, kw_only=True):
    """Why there is no document. needed: bytes of memory, of a file that takes too much, else 0;
    what: the part of them that was too much."""

    error: ErrorInfo
    needed: int = 0
    what: str = ""


Answer = DocumentSent | NotRead


def main() -> int:
    """Answer the one request; the exit status."""
    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the window; its end ends us
    requests, answers = take_over_stdio()
    prepare()
    packet = framing.read_one_of(requests, ReadFile)

    def prepared(request: ReadFile) -> None:
        confine(request)
        threading.Thread(target=_end_with, args=(requests,), daemon=True).start()

    if packet is not None:
        framing.write(answers, *answer(packet.message, prepared), packet.request)
    return 0


def _end_with(requests: BinaryIO) -> None:
    """When whoever asked has gone, nobody needs the answer."""
    requests.read(1)
    os._exit(0)


def prepare() -> None:
    """Import what reading takes, as far as it is imported late."""
    import gradstep.core.ops.catalogue  # noqa: F401

    for each in formats():
        if each.read is not None:
            with suppress(Exception):  # it imports what it takes, and finds nothing to read
                each.read(b"", "", Budget())


def answer(
    request: ReadFile, prepared: Callable[[ReadFile], None]
) -> tuple[Answer, list[framing.Buffer]]:
    """What the request is answered with. prepared: called when the file is open, which of a
    folder is one in it, before anything in it is looked at."""
    try:
        with to_be_read(request.path) as file:
            prepared(msgspec.structs.replace(request, path=file.name))
            document = document_in(file, Budget(request.limit))
        return pack(document, infer_declared(with_placeholders(document).graph))
    except OverBudgetError as error:
        return NotRead(error=info_of(error), needed=error.needed, what=error.what), []
    except GradstepError as error:
        return NotRead(error=info_of(error)), []
    except MemoryError:
        return NotRead(error=info_of(_no_memory(request))), []
    except Exception as error:
        return NotRead(error=unexpected_error(error)), []


def confine(request: ReadFile) -> None:
    """Give up what reading does not need: from here on this process looks at bytes that anybody may
    have written. The file is open already, and all modules are imported."""
    os.environ.clear()
    limit_resources(request.limit, request.seconds)
    with suppress(GradstepError):  # where the system has nothing for it; `gradstep doctor` says so
        sandbox.confine(sandbox.Profile.READER, read=_parts(request.path))


def _parts(path: str) -> list[str]:
    """Files beside it, and in folders beside it, that its reader may open, by what it is called:
    what is in it nobody has looked at."""
    suffix = PurePath(path).suffix.lower()
    known = [each for each in formats() if suffix in each.suffixes]
    found = files_beside(path) if any(each.has_parts for each in known) else []
    folders = dict.fromkeys(name for each in known for name in each.part_folders)
    return [*found, *(file for name in folders for file in files_in(path, name))]


def limit_resources(memory: int, seconds: int) -> None:
    """Let the process take so many bytes of memory for the file, and seconds of a processor, where
    the system knows such limits; and let it write no file, nor a picture of itself."""
    try:
        import resource
    except ImportError:
        return
    for kind, most in (
        (resource.RLIMIT_AS, _address_space() + 2 * memory + SPARE),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


def _address_space() -> int:
    """Bytes that this process has mapped, most of which it never touched."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 2 << 30


def _no_memory(request: ReadFile) -> GradstepError:
    return GradstepError(
        f"cannot open {request.path}: reading it took all the memory that it may have",
        kind="ResourceExhaustedError",
        hint="the file is damaged, or made to take it",
    )


if __name__ == "__main__":
    sys.exit(main())
