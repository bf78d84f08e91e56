"""Of a large graph with one operation that parts two devices, the few that show how.

One graph as a rule, of 100 to 200 operations. Fifty, of up to 2,000, in a few minutes:

    HYPOTHESIS_PROFILE=thorough ./dev test tests/gpu/test_device_reduction.py
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import settings

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.host.device_reduction import reduced_difference, reduced_recording
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.tensor import Tensor, call
from gradstep.core.program.derive import derive
from gradstep.core.program.questions.loaded_document import Loaded
from gradstep.core.protocol.messages import Comparison
from gradstep.gpu.devices import Devices
from tests.support.planted_blocks import EVEN, SIZE, large_around, vector

MOST = 10  # operations
CPU, GPU = "cpu", "emulate:tf-gpu"
COUNT, is_thorough = 50, settings.default.max_examples > 500
DEVICES = Devices()


def _gathered(y: Tensor) -> Tensor:
    """An index that there is not: an error, or 0."""
    found = tf.gather(y, np.array([0, SIZE + 2, 1, 2], np.int32), name="planted")
    return tf.where(np.ones(SIZE, bool), y, found)


def _cast(y: Tensor) -> Tensor:
    """Numbers that the type has no room for."""
    whole = call("Cast", y * 0.0 + vector(3e9, 1, 2, 3), DstT=DType.INT32, name="planted")
    return tf.where(np.ones(SIZE, bool), y, tf.cast(whole, "float32"))


def _scattered(y: Tensor) -> Tensor:
    """A place that there is not."""
    places = np.array([[0], [7], [1], [2]], np.int32)
    found = call("ScatterNd", places, y, np.array([SIZE], np.int32), name="planted")
    return tf.where(np.ones(SIZE, bool), y, found)


def _segments(y: Tensor) -> Tensor:
    """A segment that there is not."""
    ids = np.array([0, 1, 9, 2], np.int32)
    found = tf.unsorted_segment_sum(y, ids, SIZE, name="planted")
    return tf.where(np.ones(SIZE, bool), y, found)


PLANTS: dict[str, Callable[[Tensor], Tensor]] = {
    "gather": _gathered, "cast": _cast, "segments": _segments, "scatter": _scattered,
}  # fmt: skip
NAMES = sorted(PLANTS)


def large(seed: int, most: int) -> tuple[Document, str]:
    name = NAMES[seed % len(NAMES)]
    return large_around(seed, PLANTS[name], most, EVEN), name


def compared(document: Document) -> Comparison:
    return DEVICES.compare(derive(document, {}), CPU, GPU)


def smallest(document: Document, node: str = "") -> Document:
    program = derive(document, {})
    return reduced_difference(Loaded(document, {}), program, DEVICES, CPU, GPU, node)


def check(document: Document, name: str) -> None:
    whole = compared(document)
    assert whole.first_divergence == "planted", name
    small = smallest(document)
    assert len(small.graph) <= MOST, (name, small.graph.order)
    found = compared(small)
    assert found.first_divergence == "planted", name
    (before,) = [row for row in whole.nodes if row.name == "planted"]
    (after,) = [row for row in found.nodes if row.name == "planted"]
    assert (after.kind, after.because) == (before.kind, before.because)
    assert small.note, "it says by which rule"


@pytest.mark.parametrize("seed", range(COUNT if is_thorough else 1))
def test_few_operations_part_the_devices_as_all_do(seed: int) -> None:
    check(*large(seed, 2000 if is_thorough else 200))


@pytest.mark.parametrize("seed", range(len(NAMES)))
def test_every_difference_is_made_small(seed: int) -> None:
    check(*large(seed, 60))


def test_what_makes_no_difference_is_not_made_smaller() -> None:
    document, _ = large(NAMES.index("cast"), 60)
    with pytest.raises(GradstepError, match="loss makes no difference"):
        smallest(document, "loss")
    with pytest.raises(GradstepError, match="'nobody' was not compared"):
        smallest(document, "nobody")
    about = Loaded(document, {}), derive(document, {}), DEVICES
    with pytest.raises(GradstepError, match="cannot be run again"):
        reduced_difference(*about, CPU, "recorded")
    healthy = large_around(3, lambda y: tf.identity(y, name="planted"), 60, EVEN)
    with pytest.raises(GradstepError, match="no operation parts cpu and emulate:tf-gpu"):
        smallest(healthy)


@pytest.mark.parametrize("seed", range(len(NAMES)))
def test_of_a_recording_it_is_one_operation_and_what_was_recorded(seed: int) -> None:
    """The device that it was made on is not needed."""
    document, name = large(seed, 60)
    program = derive(document, {})
    found, recording = DEVICES.record(program, CPU, GPU, gradstep_file.to_bytes(document))
    about = Loaded(document, {}), program, DEVICES, CPU, recording, "there.gradrec"
    small = reduced_recording(*about)
    again = gradstep_file.from_bytes(gradstep_file.to_bytes(small))
    (planted,) = [op for op in again.graph if op.type != "Const"]
    assert planted.name == "planted"
    assert again.note, "it says by which rule"
    assert again.recorded is not None
    assert again.recorded.source.startswith("recorded on ")
    (row,) = [row for row in found.nodes if row.name == "planted"]
    if row.verdict == "raises":
        with pytest.raises(GradstepError, match=r"not in|not index|out of range") as caught:
            DEVICES.compare(derive(again, {}), CPU, "recorded")
        assert caught.value.node == "planted"
    else:
        held = DEVICES.compare(derive(again, {}), CPU, "recorded")
        assert held.first_divergence == "planted", name


def test_of_what_a_recording_has_alike_or_not_at_all_nothing_is_made_smaller() -> None:
    document, _ = large(0, 30)
    program = derive(document, {})
    _, recording = DEVICES.record(program, CPU, GPU, gradstep_file.to_bytes(document))
    about = Loaded(document, {}), program, DEVICES, CPU, recording, "there.gradrec"
    with pytest.raises(GradstepError, match="loss "):
        reduced_recording(*about, "loss")
    with pytest.raises(GradstepError, match="'nobody' was not compared"):
        reduced_recording(*about, "nobody")


def test_of_a_recording_that_an_operation_gives_alike_nothing_is_made_smaller() -> None:
    healthy = large_around(3, lambda y: tf.identity(y, name="planted"), 60, EVEN)
    program = derive(healthy, {})
    _, recording = DEVICES.record(program, CPU, GPU, gradstep_file.to_bytes(healthy))
    with pytest.raises(GradstepError, match=r"no operation parts cpu and there\.gradrec"):
        reduced_recording(Loaded(healthy, {}), program, DEVICES, CPU, recording, "there.gradrec")
