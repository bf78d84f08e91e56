"""Bilinear sampling by gather_nd: the article's tf_inverse_warp."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.autodiff.gradients import gradients
from core.graph.dtypes import DType
from core.ops import api as tf
from core.ops.builder import Tensor, call
from tests.oracle.program import Program
from tests.oracle.shorthand import ints, whole
from tests.oracle.table import STATISTIC, Case, checks


def inverse_warp(image: Tensor, flow: Tensor) -> Tensor:
    """The article's tf_inverse_warp: bilinear samples at each pixel plus its flow, whose corners
    are clipped to the border and whose weights are not."""
    batch, height, width, _ = image.shape.static()
    kind = DType(image.dtype)
    grid = np.meshgrid(np.arange(width), np.arange(height))
    across, down = (flow.builder.constant(a[None].astype(kind.numpy)) for a in grid)
    x = across + _channel(flow, 0)
    y = down + _channel(flow, 1)
    left, top = tf.floor(x), tf.floor(y)
    right, below = left + 1.0, top + 1.0
    samples = np.arange(batch)[:, None, None] + np.zeros((1, height, width))

    def corner(row: Tensor, column: Tensor) -> Tensor:
        places = [
            flow.builder.constant(samples.astype(np.int32)),
            tf.cast(tf.clip_by_value(row, 0.0, float(height - 1)), DType.INT32),
            tf.cast(tf.clip_by_value(column, 0.0, float(width - 1)), DType.INT32),
        ]
        return call("GatherNd", image, tf.stack(places, axis=3))

    def weighted(w: Tensor, pixels: Tensor) -> Tensor:
        return call("ExpandDims", w, whole(3)) * pixels

    parts = [
        weighted((right - x) * (below - y), corner(top, left)),
        weighted((right - x) * (y - top), corner(below, left)),
        weighted((x - left) * (below - y), corner(top, right)),
        weighted((x - left) * (y - top), corner(below, right)),
    ]
    return call("AddN", *parts)


def _channel(flow: Tensor, index: int) -> Tensor:
    begin, end = ints(0, 0, 0, index), ints(0, 0, 0, index + 1)
    return call(
        "StridedSlice",
        flow,
        begin,
        end,
        ints(1, 1, 1, 1),
        begin_mask=7,
        end_mask=7,
        shrink_axis_mask=8,
    )


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
        case.value(np.array((sides[0] - sides[1]) / 2e-6), *path, "fd", within=2e-8)
        case.gradient(float(d_flow[index]), *path, "tf")
