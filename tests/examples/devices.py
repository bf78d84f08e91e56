"""Examples of what devices do differently, and of the operations in which they do."""

from __future__ import annotations

import numpy as np

from gradstep.core.document.document import Document
from gradstep.core.document.expectation import Variation
from gradstep.core.graph.model import Constant
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor
from tests.examples.drawing import Drawing
from tests.examples.expect import Comparing, equal, fails, gradient, value
from tests.support.oracle import array, case

GROUP = "Devices"


def inverse_warp() -> Document:
    """Numbers: TensorFlow's, `inverse_warp_gather_nd` (float32)."""
    seen = case("inverse_warp_gather_nd")
    image, flow, upstream = (
        array(seen["inputs"][name]).astype(np.float32)
        for name in ("image", "flow (ch0 = column/x, ch1 = row/y)", "upstream")
    )
    d = Drawing()
    picture, moved = d.variable("image", image), d.variable("flow", flow)
    out = _warp(d, picture, moved)
    weighted = d.g.one("Mul", out, d.fed("upstream", upstream), name="weighted")
    d.sum(weighted, "loss")
    still = Variation(initial={"flow": Constant(np.zeros_like(flow))})
    return d.document(
        "Inverse warp: a picture sampled along a flow",
        """
        Every pixel is fetched from where the flow points, between four pixels: bilinear sampling.

        floor finds the four corners (boxes `top_left` to `bottom_right`, each with a GatherNd),
        and the weights say how near each is. floor has no gradient, so the flow learns through
        the weights alone; the picture learns through GatherNd, whose gradient scatters.

        1. Press F5 and look at the gradients of `image` and `flow`.
        2. Select `flow`, press Ctrl+E, write 0 (for every element) and press F5: `out` is `image`.
        """,
        of="loss",
        wrt="image flow",
        fetches="out",
        collapsed="top_left bottom_left top_right bottom_right position",
        expectations=(
            value("out", array(seen["float32"]["out"]), "TensorFlow's warped picture."),
            gradient("image", array(seen["float32"]["d_image"]), "Its gradient of the picture."),
            gradient("flow", array(seen["float32"]["d_flow"]), "Its gradient of the flow.", **NEAR),
            equal('x["out"]', 'x["image"]', "Without flow nothing moves.", when=still),
        ),
    )


NEAR: Comparing = {"rtol": 1e-4, "atol": 2e-6}  # weights near 0 or 1, in float32


def _warp(d: Drawing, image: Tensor, flow: Tensor) -> Tensor:
    """Bilinear samples at each pixel plus its flow. Corners are clipped to the border, weights
    are not."""
    g = d.g
    batch, height, width, _ = image.shape.static()
    with g.scope("position"):
        across, down = np.meshgrid(np.arange(width), np.arange(height))
        flow_x, flow_y = g.op("Unpack", flow, name="flow", num=2, axis=3)
        x = g.one("AddV2", flow_x, g.constant(across[None], "float32", name="column"), name="x")
        y = g.one("AddV2", flow_y, g.constant(down[None], "float32", name="row"), name="y")
        left, top = g.one("Floor", x, name="left"), g.one("Floor", y, name="top")
        one = g.constant(1.0, name="one")
        right, bottom = (
            g.one("AddV2", c, one, name=n) for c, n in ((left, "right"), (top, "bottom"))
        )
        pictures = np.broadcast_to(np.arange(batch)[:, None, None], (batch, height, width))
        which = g.constant(pictures, "int32", name="which_picture")
    sides = (
        ("top_left", (right, x), (bottom, y), (top, left)),
        ("bottom_left", (right, x), (y, top), (bottom, left)),
        ("top_right", (x, left), (bottom, y), (top, right)),
        ("bottom_right", (x, left), (y, top), (bottom, right)),
    )
    corners = []
    for scope, across_by, down_by, corner in sides:
        with g.scope(scope):
            share = g.one("Sub", *across_by, name="across") * g.one("Sub", *down_by, name="down")
            places = [
                tf.cast(tf.clip_by_value(c, 0.0, float(size - 1)), "int32")
                for c, size in zip(corner, (height, width), strict=True)
            ]
            pixels = g.one("GatherNd", image, tf.stack([which, *places], axis=3), name="pixels")
            corners.append(g.one("Mul", tf.expand_dims(share, 3), pixels, name="weighted"))
    return g.one("AddN", *corners, name="out")


def gather_nd() -> Document:
    """Numbers: TensorFlow's, `gather_out_of_range_cpu`; for the GPU its documentation's."""
    d = Drawing()
    params = d.variable("params", [1, 2, 3, 4, 5])
    indices = d.fed("indices", [[0], [4], [6]], "int32")
    d.sum(d.g.one("GatherNd", params, indices, name="b"), "loss")
    gpu = Variation(device="emulate:tf-gpu")
    return d.document(
        "gather_nd, on the CPU and on a GPU",
        """
        An index out of range: an error on the CPU, a zero on a GPU, and the gradients follow.

        Index 6 is beyond the five params. On the GPU (imitated by TensorFlow's documented rules,
        and said to be) the run goes on with 0, and nothing flows back there: no error tells that
        the data are wrong.

        Press F5; then choose tf-gpu under Devices > Run on and press F5 again, or under
        Devices > Compare with to see both, node by node.
        """,
        """
        params b loss
        indices axes
        """,
        of="loss",
        wrt="params",
        fetches="b",
        expectations=(
            fails(
                "b", "InvalidArgumentError", "indices[2] = [6] does not index into", "On the CPU."
            ),
            value("b", [1.0, 5.0, 0.0], "On the GPU it reads 0.", when=gpu),
            gradient("params", [1.0, 0.0, 0.0, 0.0, 1.0], "Nothing flows back there.", when=gpu),
        ),
    )


EXAMPLES = (gather_nd, inverse_warp)
