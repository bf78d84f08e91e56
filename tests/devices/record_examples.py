"""What a device gives for every example, as files that come with the program.

    python -m tests.devices.record_examples DEVICE

run where the device is, as PyTorch is in an environment of its own; nothing but the examples'
folder of recordings is written to. An example that changes is recorded again. DEVICE may be
cupy:host, in the environment of `./dev gpu --host`: CuPy itself without a card, which no user can
open, and so is told apart from a card's `gpu`.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gradstep.core.cli.runs.derived_program import sound_program
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.document.data_edits import fed_alone
from gradstep.core.document.document import Document
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.io.device_recordings import SUFFIX
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read
from gradstep.core.program.questions.loaded_document import with_functions
from gradstep.core.program.trust.example_index import EXAMPLES
from gradstep.core.program.trust.permission_levels import Permission
from gradstep.gpu.compare import compare
from gradstep.gpu.cupy_backend import CupyBackend
from gradstep.gpu.devices import Devices
from gradstep.gpu.emulated_systems import TF_ON_GPU
from gradstep.gpu.recorder import Recorder
from gradstep.gpu.recording_file import to_bytes

HOSTED = "cupy:host"
FOLDER = EXAMPLES / "recordings"


def program_of(document: Document) -> Program:
    """Of an example, whose Python is the project's own."""
    return sound_program(with_functions(document, {}, Permission.FULL, ""))


def place_of(name: str, device: str) -> Path:
    return FOLDER / f"{name}.{device.replace(':', '-')}{SUFFIX}"


def record(device: str) -> Iterator[Path]:
    """The files, one by one. Raises GradstepError."""
    FOLDER.mkdir(exist_ok=True)
    hosted = _without_a_card() if device == HOSTED else None
    for path in sorted(EXAMPLES.glob("*.gradstep")):
        document = read(path)
        program = program_of(document)
        file = gradstep_file.to_bytes(fed_alone(document, program.feeds))
        if hosted is None:
            _, recording = Devices().record(program, "cpu", device, file)
        else:
            recording = _recorded(program, hosted, file)
        place = place_of(path.stem, device)
        place.write_bytes(recording)
        yield place


def _without_a_card() -> Backend:
    from tests.support.hostcuda import hostcuda

    cupy = hostcuda.install()
    text = f"CuPy {cupy.__version__} without a card: its kernels compiled for a processor"
    return CupyBackend(TF_ON_GPU, HOSTED, f"{text} ({platform.machine()})", cupy)


def _recorded(program: Program, there: Backend, document: bytes) -> bytes:
    here = NumpyBackend()
    text = f"{there.source.removeprefix('measured on ')}, NumPy {np.__version__}"
    recorder = Recorder(program, text, document)
    compare(program, here, there, recorder=recorder)
    return to_bytes(recorder.recording(here, there))


if __name__ == "__main__":
    for made in record(sys.argv[1]):
        sys.stdout.write(f"{made.name}\n")
