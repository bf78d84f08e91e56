"""The recordings that come with the examples are of these examples as they are."""

from __future__ import annotations

import pytest

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.io.open_document import read
from gradstep.core.program.trust.example_index import EXAMPLES
from gradstep.gpu.devices import Devices
from gradstep.gpu.lockstep import begun
from gradstep.gpu.recorded_track import require_same
from gradstep.gpu.recording_file import from_bytes
from tests.devices.record_examples import FOLDER, HOSTED, place_of, program_of

NAMES = sorted(path.stem for path in EXAMPLES.glob("*.gradstep"))
CARD = "gpu"
SHIPPED = {
    "torch:cpu": "PyTorch 2",
    HOSTED: "CuPy 14.2.0 without a card",
    CARD: "NVIDIA H200, driver 580.159.04, CUDA 13.2, CuPy 14.2.0",
}
EVERY = [(name, device) for name in NAMES for device in SHIPPED if place_of(name, device).exists()]


def test_there_is_one_of_each_and_no_other() -> None:
    """That of a card goes when its example changes, and comes back when there is a card again."""
    of_cards = {place_of(name, CARD) for name in NAMES}
    wanted = {place_of(name, device) for name in NAMES for device in SHIPPED}
    assert wanted - of_cards <= {*FOLDER.iterdir()} <= wanted
    assert len(EVERY) > 2.8 * len(NAMES)


def example(name: str) -> Program:
    return program_of(read(EXAMPLES / f"{name}.gradstep"))


@pytest.mark.parametrize("name", NAMES)
def test_they_fit_their_example(name: str) -> None:
    ready = begun(example(name), NumpyBackend())
    for device in (device for other, device in EVERY if other == name):
        recording = from_bytes(place_of(name, device).read_bytes())
        assert recording.device == device
        assert recording.text.startswith(SHIPPED[device])
        assert recording.measured
        require_same(*ready, recording)


@pytest.mark.parametrize("device", SHIPPED)
@pytest.mark.parametrize("name", ["tutorial", "softmax_digits", "lstm"])
def test_nothing_differs(name: str, device: str) -> None:
    file = place_of(name, device)
    found = Devices().compare_recording(example(name), "cpu", file.read_bytes(), file.name)
    assert {node.verdict for node in found.nodes} <= {"equal", "close"}
    assert found.first_divergence is None
    assert SHIPPED[device] in found.source


@pytest.mark.parametrize("device", [HOSTED, CARD])
def test_an_index_outside_gives_on_a_card_what_is_said_of_it(device: str) -> None:
    file = place_of("gather", device)
    found = Devices().compare_recording(example("gather"), "cpu", file.read_bytes(), file.name)
    (first,) = (node for node in found.nodes if node.name == found.first_divergence)
    assert first.left.status == "raised"
    assert first.right.status == "ok"
