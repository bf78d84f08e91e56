"""How far a number may be from what was recorded of it."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.debug.history.recorded_run import RecordedRun
from gradstep.core.graph.model import TensorRef
from gradstep.core.io.open_document import read
from gradstep.core.program.derive import derive
from gradstep.gpu.recorded_rows import Pair, RecordedRows
from tests.traces.trace_archive import traces


@pytest.fixture(scope="module")
def rows() -> RecordedRows:
    return RecordedRows(derive(read(traces() / "mlp.gstrace")), RecordedRun("torch"))


def pair(*numbers: float, scale: float = 0.0, dtype: str = "float32") -> Pair:
    return Pair(TensorRef("x"), np.array(numbers, dtype), scale=scale)


@pytest.mark.parametrize(
    ("wanted", "found", "differs"),
    [
        (pair(1, 2), [1, 2], False),
        (pair(1, 2), [1, 2.0001], False),
        (pair(1, 2), [1, 2.001], True),
        (pair(0), [1e-6], True),
        (pair(0, scale=1), [1e-6], False),
        (pair(1e-30), [2e-30], True),
        (pair(3e-40), [2e-40], False),
        (pair(3e-40), [0], False),
        (pair(3e-40), [3e-38], True),
        (pair(np.nan, 1), [np.nan, 1], False),
        (pair(np.nan, 1), [1, 1], True),
        (pair(np.inf), [-np.inf], True),
        (pair(1e-5, dtype="float16"), [2e-5], True),
        (pair(1, 2), [1], True),
        (pair(3, dtype="int64"), [4], True),
    ],
)
def test_what_differs(rows: RecordedRows, wanted: Pair, found: list[float], differs: bool) -> None:
    assert rows.differs(wanted, np.array(found, wanted.wanted.dtype)) is differs
