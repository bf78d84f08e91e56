"""One function of one tensor: its value and its gradient at a point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.ops.build.builder import Tensor
from tests.oracle.program import Program

Build = Callable[[Tensor], Tensor]


def point(build: Build, start: np.ndarray) -> dict[str, Any]:
    """y and grad, where x is `start`."""
    with Program() as p:
        x = p.like("x", start)
        y = build(x)
        return p.run({"y": y, "grad": gradients(y, x)[0]}, {x: start})
