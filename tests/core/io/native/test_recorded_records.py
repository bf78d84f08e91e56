"""What was recorded elsewhere, in a document's file: whole again, or refused in one sentence."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.debug.history.recorded_run import RecordedIterations, RecordedRun
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant
from gradstep.core.io.native.attribute_records import TensorFiles
from gradstep.core.io.native.recorded_records import read_recorded, write_recorded

PLACES = np.array([[0, 0], [1, 0], [1, 1]])
VALUES = np.arange(6, dtype=np.float32).reshape(3, 2)


class Nowhere:
    """All tensors here are short, and in the record itself."""

    def tensor(self, name: str) -> np.ndarray:
        raise AssertionError(name)

    def text(self, name: str) -> str:
        raise AssertionError(name)


def again(
    places: np.ndarray = PLACES, values: np.ndarray = VALUES, gradients: np.ndarray | None = None
) -> RecordedIterations:
    """Written and read."""
    back = None if gradients is None else Constant(gradients)
    one = RecordedIterations(Constant(places), Constant(values), back)
    record, _ = write_recorded(RecordedRun("torch", iterations={"w/x:0": one}), TensorFiles())
    found = read_recorded(record, Nowhere())
    assert found is not None
    return found.iterations["w/x:0"]


@pytest.mark.parametrize("gradients", [None, -VALUES])
def test_iterations_are_whole_again(gradients: np.ndarray | None) -> None:
    kept = again(gradients=gradients)
    assert np.array_equal(kept.places.array, PLACES)
    assert np.array_equal(kept.values.array, VALUES)
    assert (kept.gradients is None) == (gradients is None)
    assert kept.time([1, 0]) == 1
    assert kept.time([0, 1]) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"places": PLACES[:2]},
        {"places": PLACES[:, 0]},
        {"places": PLACES / 2},
        {"values": VALUES[:2]},
        {"gradients": VALUES[:2]},
    ],
)
def test_what_does_not_say_in_which_iterations_is_refused(wrong: dict[str, np.ndarray]) -> None:
    with pytest.raises(GradstepError, match="'w/x:0' in a loop does not say in which iterations"):
        again(**wrong)
