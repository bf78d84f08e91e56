"""A file of the few operations that show what is wrong: asked of the engine, written here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gradstep.core.errors import GradstepError
from gradstep.core.io.device_recordings import is_recording
from gradstep.core.io.disk.file_bytes import read_file
from gradstep.core.io.left_out import left_out_sentence
from gradstep.core.protocol.error_records import info_of
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import ErrorInfo, Failed, FindSmallest, Message, Smallest
from gradstep.gui.look.count_text import count_of

if TYPE_CHECKING:
    from gradstep.gui.model.workspace import Workspace

Told = Callable[[str], None]
Failing = Callable[[ErrorInfo], None]


def write_smallest(
    workspace: Workspace, question: FindSmallest, path: Path, then: Told, failed: Failing
) -> None:
    """Write what shows it, into a file of any format, beside the main thread; `then` gets what
    there is to say, `failed` what went wrong."""

    def refused(error: GradstepError) -> None:
        failed(info_of(error))

    def found(reply: Message, buffers: tuple[Buffer, ...]) -> None:
        if isinstance(reply, Smallest):
            show = "shows" if reply.operations == 1 else "show"
            words = f"{count_of(reply.operations, 'operation')} {show} it: {path.name}"

            def written(lacks: list[str]) -> None:
                then("; ".join(filter(None, [words, left_out_sentence(path.name, lacks)])))

            write = partial(_write, path, bytes(buffers[0]))
            workspace.background.run(write, written, refused)
        elif isinstance(reply, Failed):
            failed(reply.error)

    def ask(files: tuple[bytes, ...]) -> None:
        workspace.request(question, files, found)

    if is_recording(question.against):
        workspace.background.run(partial(_read, question.against), ask, refused)
    else:
        ask(())


def _read(file: str) -> tuple[bytes, ...]:
    return (read_file(file),)


def _write(path: Path, document: bytes) -> list[str]:
    """What the file is without, in words. Raises GradstepError."""
    from gradstep.core.data.first_batch import write_exported
    from gradstep.core.io.native.gradstep_file import from_bytes

    return write_exported(path, from_bytes(document))
