"""What a device gives for every example, as files that come with the program.

    python -m tests.devices.record_examples DEVICE

run where the device is, as PyTorch is in an environment of its own; nothing but the examples'
folder of recordings is written to. An example that changes is recorded again.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from gradstep.core.cli.runs.derived_program import sound_program
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.document.data_edits import fed_alone
from gradstep.core.document.document import Document
from gradstep.core.io.device_recordings import SUFFIX
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read
from gradstep.core.program.questions.loaded_document import with_functions
from gradstep.core.program.trust.example_index import EXAMPLES
from gradstep.core.program.trust.permission_levels import Permission
from gradstep.gpu.devices import Devices

FOLDER = EXAMPLES / "recordings"


def program_of(document: Document) -> Program:
    """Of an example, whose Python is the project's own."""
    return sound_program(with_functions(document, {}, Permission.FULL, ""))


def place_of(name: str, device: str) -> Path:
    return FOLDER / f"{name}.{device.replace(':', '-')}{SUFFIX}"


def record(device: str) -> Iterator[Path]:
    """The files, one by one. Raises GradstepError."""
    FOLDER.mkdir(exist_ok=True)
    for path in sorted(EXAMPLES.glob("*.gradstep")):
        document = read(path)
        program = program_of(document)
        file = gradstep_file.to_bytes(fed_alone(document, program.feeds))
        _, recording = Devices().record(program, "cpu", device, file)
        place = place_of(path.stem, device)
        place.write_bytes(recording)
        yield place


if __name__ == "__main__":
    for made in record(sys.argv[1]):
        sys.stdout.write(f"{made.name}\n")
