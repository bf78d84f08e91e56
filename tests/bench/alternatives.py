"""The alternative kernels against the reference, each on shapes of several kinds.

    .bench/kernels/bin/python -m tests.bench.alternatives [TYPE…]

prints for each case the ratio of their times, with quartiles: what the registry's `gain` says.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from tests.bench.implementations import variables

os.environ.update(variables("one"))  # before the libraries load

import numpy as np

from gradstep.core.engine.kernels.kernel_registry import ALTERNATIVES
from gradstep.core.ops.build.builder import GraphBuilder
from tests.bench import ours
from tests.bench.interleaving import interleave
from tests.bench.spread import ratio

Case = tuple[str, list[Any], dict[str, Any]]  # what it is, inputs, attributes

_random = np.random.default_rng(1)
_IMAGES = (  # batch, height and width, channels in and out, window
    (64, 28, 1, 32, 5),
    (64, 14, 32, 64, 5),
    (32, 56, 64, 64, 3),
    (32, 14, 256, 256, 3),
    (8, 32, 3, 16, 3),
    (1, 32, 16, 16, 3),
    (16, 28, 64, 128, 1),
    (2, 8, 2, 4, 3),
    (1, 5, 1, 1, 3),
)
_ROWS = ((4096, 64, 50_000), (4096, 64, 100), (512, 16, 100), (32, 8, 10), (20_000, 8, 5000))


def _convolutions(type: str) -> Iterator[Case]:
    for batch, size, channels, outputs, window in _IMAGES:
        image, g = _floats(batch, size, size, channels), _floats(batch, size, size, outputs)
        filter = _floats(window, window, channels, outputs)
        inputs = {
            "Conv2D": [image, filter],
            "Conv2DBackpropInput": [image.shape, filter, g],
            "Conv2DBackpropFilter": [image, filter.shape, g],
        }
        text = f"{batch} of {size} x {size}, {channels} to {outputs} channels, window {window}"
        yield text, inputs[type], {"strides": (1, 1, 1, 1), "padding": "SAME"}


def _sums(type: str) -> Iterator[Case]:
    for count, width, places in _ROWS:
        ids = _often(count, places)
        yield f"{count} rows of {width} into {places}", [_floats(count, width), ids, places], {}


def _distinct(type: str) -> Iterator[Case]:
    for count, _, most in _ROWS:
        yield f"{count} of {most}", [_often(count, most)], {}
        yield f"{count}, far apart", [_often(count, most) * 20_011], {}


def _floats(*shape: int) -> np.ndarray:
    return _random.standard_normal(shape).astype(np.float32)


def _often(count: int, most: int) -> np.ndarray:
    """As words are: few of them often."""
    return ((_random.zipf(1.3, count) - 1) % most).astype(np.int32)


_CASES: dict[str, Callable[[str], Iterator[Case]]] = {
    "UnsortedSegmentSum": _sums,
    "Unique": _distinct,
    "Conv2D": _convolutions,
    "Conv2DBackpropInput": _convolutions,
    "Conv2DBackpropFilter": _convolutions,
}


def _timer(type: str, case: Case, kernels: str) -> Callable[[int], float]:
    """CPU seconds of so many runs of the operation alone."""
    _, inputs, attrs = case
    build = GraphBuilder()
    feeds = {f"x{i}": x for i, x in enumerate(inputs) if isinstance(x, np.ndarray)}
    tensors = [
        build.placeholder(f"x{i}", str(x.dtype), x.shape)
        if isinstance(x, np.ndarray)
        else np.array(x, np.int32)
        for i, x in enumerate(inputs)
    ]
    outputs = build.op(type, *tensors, **attrs)
    run = ours.program(build.build(), [t.ref for t in outputs], (), feeds, {}, kernels=kernels)
    run.step()

    def seconds(steps: int) -> float:
        start = time.process_time()
        for _ in range(steps):
            run.step()
        return time.process_time() - start

    return seconds


def main(types: list[str]) -> None:
    for one in ALTERNATIVES:
        if types and one.type not in types:
            continue
        for case in _CASES[one.type](one.type):
            timers = {k: _timer(one.type, case, k) for k in (one.library.name, "reference")}
            seconds = interleave(timers, 15, 0.03)
            found = ratio(seconds[one.library.name], seconds["reference"])
            spread = f"{found.median:.2f} ({found.low:.2f}-{found.high:.2f})"
            sys.stdout.write(f"{one.type} by {one.library.name}: {spread} on {case[0]}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
