"""The point at which the small network is looked at."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.graph.model import TensorRef


@pytest.fixture
def point() -> dict[TensorRef, np.ndarray]:
    values = {"x": [1.0, -2.0, 0.5], "w": [0.3, 0.1, -0.7], "b": [0.2]}
    return {TensorRef(k): np.array(v, np.float32) for k, v in values.items()}
