"""Blocks of images that several threads share: the same bits however many there are, and however
far each of them is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.engine.calls.bound_calls import Share
from gradstep.core.engine.calls.split_calls import Split
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.run.feed_values import infer_fed_types
from gradstep.core.engine.run.recording import Recording
from gradstep.core.ops.build.builder import GraphBuilder, Tensor, call
from gradstep.core.ops.catalogue.neural import image_blocks
from tests.support.layouts import Case, assert_same, run
from tests.support.shared_work import in_lockstep, threads, used_memory

THREADS = (1, 2, 3)
SMALL: dict[str, Any] = {
    "_WORTH_ELEMENTS": 60,
    "_WORTH_ROWS": 9,
    "_WORTH_PRODUCTS": 500,
    "_SUMS_BYTES": 1 << 12,
}


@dataclass(frozen=True)
class Windows:
    """One op on images, and how its windows lie."""

    type: str
    batch: int
    sizes: tuple[int, ...]  # of an image
    channels: int
    window: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    padding: str
    channels_first: bool
    outputs: int  # of a convolution, for each channel or group of them
    groups: int
    dtype: str

    def case(self) -> Case:
        """What it makes of random numbers, and its gradients."""
        draw = np.random.default_rng(3)
        build = GraphBuilder()
        image = draw.standard_normal(self._images(self.batch, self.channels)).astype(self.dtype)
        feeds = {"x": image}
        if not self.type.endswith("Pool"):
            depth = self.channels // (1 if self.type.startswith("Depth") else self.groups)
            shape = (*self.window, depth, self.outputs)
            feeds["w"] = draw.standard_normal(shape).astype(self.dtype)
        placed = [build.placeholder(n, str(a.dtype), a.shape) for n, a in feeds.items()]
        with build.as_default():
            y = call(self.type, *placed, **self._attrs())
            weights = draw.standard_normal(y.shape.static()).astype(self.dtype)
            fetched = [y, *gradients(y, placed, grad_ys=[build.constant(weights)])]
            if self.type == "MaxPool":
                fetched.append(self._second(placed[0], y, draw))
        refs = tuple(t.ref for t in fetched if isinstance(t, Tensor))
        assert len(refs) > 1
        return Case(build.build(), refs, (), {p.ref: feeds[p.ref.op] for p in placed})

    def _second(self, x: Tensor, y: Tensor, draw: np.random.Generator) -> Tensor:
        g = draw.standard_normal(x.shape.static()).astype(self.dtype)
        return call("MaxPoolGradGrad", x, y, g, **self._attrs())

    def _images(self, first: int, last: int) -> tuple[int, ...]:
        return (first, last, *self.sizes) if self.channels_first else (first, *self.sizes, last)

    def _attrs(self) -> dict[str, Any]:
        rank = len(self.sizes)
        attrs: dict[str, Any] = {
            "padding": self.padding,
            "strides": self._around(self.strides[:rank]),
            "data_format": {
                (2, False): "NHWC",
                (2, True): "NCHW",
                (3, False): "NDHWC",
                (3, True): "NCDHW",
            }[rank, self.channels_first],
        }
        if self.type.endswith("Pool"):
            return {**attrs, "ksize": self._around(self.window)}
        return {**attrs, "dilations": self._around(self.dilations[:rank])}

    def _around(self, numbers: tuple[int, ...]) -> tuple[int, ...]:
        return (1, 1, *numbers) if self.channels_first else (1, *numbers, 1)


_ANY_STRIDES = ("Conv2D", "MaxPool", "AvgPool")
_STRIDES = ((1, 1, 1), (2, 2, 2))


@st.composite
def windows(draw: st.DrawFn) -> Windows:
    type = draw(
        st.sampled_from(["Conv2D", "Conv3D", "DepthwiseConv2dNative", "MaxPool", "AvgPool"])
    )
    rank = 3 if type == "Conv3D" else 2
    few = st.integers(1, 3)
    groups = draw(st.sampled_from([1, 1, 2])) if type == "Conv2D" else 1
    return Windows(
        type,
        batch=draw(st.sampled_from([1, 2, 5, 9])),
        sizes=draw(st.tuples(*[st.integers(5, 7)] * rank)),
        channels=groups * draw(st.sampled_from([1, 3, 5, 10])),
        window=draw(st.tuples(*[few] * rank)),
        strides=draw(st.tuples(few, few) if type in _ANY_STRIDES else st.sampled_from(_STRIDES)),
        dilations=draw(st.sampled_from([(1, 1, 1), (1, 2, 1), (2, 1, 2)])),
        padding=draw(st.sampled_from(["SAME", "VALID"])),
        channels_first=draw(st.booleans()),
        outputs=groups * draw(st.sampled_from([1, 3, 9])),
        groups=groups,
        dtype=draw(st.sampled_from(["float32", "float64", "float16"])),
    )


@given(windows(), st.booleans(), st.sampled_from([1 << 9, 1 << 14]))
def test_threads_change_no_bit(how: Windows, fast: bool, block: int) -> None:
    case = how.case()
    (whole,) = run(case, fast, runs=1)
    with used_memory(), patch.multiple(image_blocks, _HOST_BLOCK=block, **SMALL):
        with threads(1):
            alone = run(case, fast, runs=2)
        for count in THREADS[1:]:
            with threads(count):
                assert_same(alone, run(case, fast, runs=2), f"{count} threads")
                with in_lockstep():
                    assert_same(alone, run(case, fast, runs=2), f"{count} in lockstep")
    assert not whole.error
    tolerance = {"float16": 2e-2, "float32": 2e-5, "float64": 1e-12}[how.dtype]
    for ref in case.fetches:
        one, other = (
            np.frombuffer(seen.fetched[ref][2], how.dtype) for seen in (whole, *alone[:1])
        )
        scale = max(1.0, float(np.abs(one).max(initial=0)))
        np.testing.assert_allclose(other, one, rtol=tolerance, atol=tolerance * scale)


def large(type: str, **attrs: Any) -> Case:
    """Such as networks have."""
    build = GraphBuilder()
    x = build.placeholder("x", shape=(32, 28, 28, 32))
    with build.as_default():
        if type.endswith("Pool"):
            y, by = call(type, x, padding="SAME", **attrs), [x]
        else:
            w = build.constant(np.ones((3, 3, 32, 1 if "Depth" in type else 64), np.float32))
            y, by = call(type, x, w, padding="SAME", **attrs), [x, w]
        found = [y, *(g for g in gradients(y, by) if isinstance(g, Tensor))]
    return Case(
        build.build(),
        tuple(t.ref for t in found),
        (),
        {x.ref: np.ones(x.shape.static(), np.float32)},
    )


STILL, TWOS = {"strides": (1, 1, 1, 1)}, {"strides": (1, 2, 2, 1), "ksize": (1, 2, 2, 1)}


@pytest.mark.parametrize(
    "make",
    [
        partial(large, "Conv2D", **STILL),
        partial(large, "DepthwiseConv2dNative", **STILL),
        partial(large, "MaxPool", **TWOS),
        partial(large, "AvgPool", **TWOS),
    ],
    ids=["Conv2D", "Depthwise", "MaxPool", "AvgPool"],
)
@pytest.mark.parametrize("count", THREADS)
def test_what_networks_have_is_shared_with_all_threads(make: Any, count: int) -> None:
    """Forward and back; by one thread in the same blocks."""
    case = make()
    with threads(count):
        types = infer_fed_types(case.feeds)
        run = Recording(compile_plan(case.graph, case.fetches, (), types), NumpyBackend())
        run.feed(case.feeds)
        run.begin({})
        found = (
            (run.plan.steps[step].op.type, [part for part in call.parts if isinstance(part, Share)])
            for step, call in run.calls
            if isinstance(call, Split)
        )
        shared = {type: shares for type, shares in found if shares}
    wanted = {case.graph[ref.op].type for ref in case.fetches}
    assert shared.keys() >= wanted
    for shares in shared.values():
        assert len(shares) == 1 if count == 1 else count <= len(shares) <= 16
        sizes = [len(share.calls) for share in shares]
        assert max(sizes) <= 3 * min(sizes)
