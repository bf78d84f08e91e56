"""Bilinear sampling by gather_nd: the block that does what the article's tf_inverse_warp does."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.layers.images import inverse_warp
from gradstep.core.ops.build.builder import Tensor
from tests.oracle.program import Program
from tests.oracle.table import STATISTIC, Case, checks
from tests.support.rounding import Rounding


@checks("inverse_warp_gather_nd")
def warp(case: Case) -> None:
    flow_key = "flow (ch0 = column/x, ch1 = row/y)"
    keys = ("image", flow_key, "upstream")
    for kind in ("float32", "float64"):
        pixels, moved, upstream = (case.given("inputs", key).astype(kind) for key in keys)
        with Program() as p:
            image, flow = p.like("image", pixels), p.like("flow", moved)
            out = inverse_warp(image, flow)
            grads = gradients(out, [image, flow], grad_ys=[p.builder.constant(upstream)])
            feeds = {image: pixels, flow: moved}
            found = p.run({"out": out, "d_image": grads[0], "d_flow": grads[1]}, feeds)
            still = p.run(out, {**feeds, flow: np.zeros_like(moved)})
            found["zero flow is identity"] = bool(np.all(still == pixels))
            case.gradient(found, kind)
            if kind == "float64":
                _differences(case, found["d_flow"], p, out, feeds, flow, upstream)
    case.skip(STATISTIC, "numpy_max_diff")
    case.skip("two random images of the article's program", "tutorial identity gather_nd equal")
    case.skip("two random images of the article's program", "two separate runs equal")


def _differences(
    case: Case,
    d_flow: np.ndarray,
    p: Program,
    out: Tensor,
    feeds: dict[Any, np.ndarray],
    flow: Tensor,
    upstream: np.ndarray,
) -> None:
    for number in range(len(case.at("flow_grad_finite_difference"))):
        path = "flow_grad_finite_difference", number
        index = tuple(case.given(*path, "index"))
        sides = []
        for step in (1e-6, -1e-6):
            nudged = feeds[flow].copy()
            nudged[index] += step
            sides.append(float(np.sum(p.run(out, {**feeds, flow: nudged}) * upstream)))
        slope = np.array((sides[0] - sides[1]) / 2e-6)
        sums = Rounding(terms=upstream.size, size=abs(sides[0]) / 2e-6)
        case.value(slope, *path, "fd", rounding=sums)
        case.gradient(float(d_flow[index]), *path, "tf")
