"""A recorded device is compared with as the device itself was."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from gradstep.core.document.data_edits import fed_alone
from gradstep.core.document.document import Document
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read
from gradstep.core.ops.declare.system_rules import Rules
from gradstep.core.program.trust.example_index import EXAMPLES
from gradstep.core.protocol.messages import Comparison
from gradstep.gpu.device_status import DeviceStatus
from gradstep.gpu.device_table import entries
from gradstep.gpu.devices import Devices
from gradstep.gpu.recording_file import from_bytes, to_bytes
from tests.devices.record_examples import program_of

DEVICES = Devices()


def recorded(document: Document, device: str = "emulate:jax") -> tuple[Comparison, bytes]:
    program = program_of(document)
    file = gradstep_file.to_bytes(fed_alone(document, program.feeds))
    return DEVICES.record(program, "cpu", device, file)


def replayed(document: Document, recording: bytes) -> Comparison:
    return DEVICES.compare_recording(program_of(document), "cpu", recording, "a.gradrec")


def rows(found: Comparison) -> bytes:
    """All that is said of nodes, whatever the device is called."""
    said = msgspec.json.encode(msgspec.to_builtins(found.nodes))
    return said.replace(found.right.encode(), b"DEVICE")


@pytest.mark.parametrize(
    "name",
    [
        "gather",  # fails on the processor
        "lstm",  # loops, and state that stays on its device
        "queue_train_validation",
        "cond_gradients",
        "assign_in_loop",
        "nan_gradient",
        "bernoulli_mask",
        "digits_in_batches",  # fed by data, which stay behind
        "summaries",  # text
    ],
)
@pytest.mark.parametrize("device", ["emulate:jax", "emulate:tf-gpu"])
def test_it_says_what_the_device_said(name: str, device: str) -> None:
    document = read(EXAMPLES / f"{name}.gradstep")
    live, file = recorded(document, device)
    inside = gradstep_file.from_bytes(from_bytes(file).document)
    again = replayed(inside, file)
    assert rows(again) == rows(live)
    assert again.right == f"{device}, recorded {from_bytes(file).date}"
    assert not again.measured
    assert to_bytes(from_bytes(file)) == file


@pytest.mark.parametrize("asking", [True, False])
def test_what_is_still_asked_of_a_device_is_no_part_of_it(
    gather: Document, monkeypatch: pytest.MonkeyPatch, asking: bool
) -> None:
    """The file stays; the question does not."""
    status = DeviceStatus(True, "cpu", "a board; still asking whether it hums", asking=asking)
    entry = replace(entries()["cpu"], probe=lambda patience_s: status)
    monkeypatch.setattr("gradstep.gpu.devices.find", lambda name: entry)
    said = DEVICES._text("cpu", NumpyBackend(Rules(source="measured on a board")))
    assert ("still asking" in said) is not asking
    assert said.startswith("a board")
    assert "measured" not in said


@pytest.fixture(scope="module")
def gather() -> Document:
    return read(EXAMPLES / "gather.gradstep")


@pytest.fixture(scope="module")
def file(gather: Document) -> bytes:
    return recorded(gather)[1]


def test_another_operation_is_not_compared_with_it(gather: Document, file: bytes) -> None:
    op = gather.graph["b"]
    other = replace(op, attrs={**op.attrs, "batch_dims": 0, "_why": "another"})
    graph = type(gather.graph)({**gather.graph.operations, "b": other})
    with pytest.raises(GradstepError, match="'b' is another operation than there") as caught:
        replayed(replace(gather, graph=graph), file)
    assert "record it again" in caught.value.hint


def test_nor_are_other_values(gather: Document, file: bytes) -> None:
    params = Constant(gather.feeds["params:0"].array + np.float32(1))
    other = replace(gather, feeds={**gather.feeds, "params:0": params})
    with pytest.raises(GradstepError, match="'params:0' has another value than when"):
        replayed(other, file)


def test_nor_is_another_graph(file: bytes) -> None:
    with pytest.raises(GradstepError, match="is not in the recording"):
        replayed(read(EXAMPLES / "tutorial.gradstep"), file)


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.99])
def test_a_damaged_file_is_said_to_be_one(gather: Document, file: bytes, cut: float) -> None:
    with pytest.raises(GradstepError, match=r"a\.gradrec") as caught:
        replayed(gather, file[: int(cut * len(file))])
    assert caught.value.kind == "FileError"


@pytest.mark.parametrize(
    ("junk", "said"),
    [
        (b"hello, world", "it is no zip archive, and begins with 68 65 6c 6c 6f 2c 20 77"),
        (b"", "it is empty"),
        (gradstep_file.to_bytes(Document()), "it holds no recording.json"),
    ],
)
def test_what_is_no_recording_is_said_to_be_none(junk: bytes, said: str) -> None:
    with pytest.raises(GradstepError) as caught:
        from_bytes(junk, "a.gradrec")
    assert caught.value.message == f"a.gradrec: is not a recording of a device: {said}"
    assert "--record OUT.gradrec" in caught.value.hint
