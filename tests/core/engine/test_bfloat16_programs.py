"""Examples in bfloat16: fast runs give the bits of recorded ones, and a card gives them, too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.number_kinds import BFLOAT16
from gradstep.core.io.open_document import read
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.derive import derive
from gradstep.gpu.cupy_backend import CupyBackend
from gradstep.gpu.emulated_systems import TF_ON_GPU
from tests.support.fake_cupy import FakeCupy
from tests.support.shortened import shortened

EXAMPLES = Path(__file__).parents[3] / "assets" / "examples"
# Adam, a loop, normalization, convolution, random numbers, and updates that passes merge.
NAMES = ["tutorial", "while_loop", "batch_norm_updates", "cnn_digits", "bernoulli_mask", "gan"]


def program(name: str) -> Program:
    return derive(shortened(read(EXAMPLES / f"{name}.gradstep")), trusted=True)


def three_runs(made: Program, backend: Backend, fast: bool) -> list[tuple[np.dtype, bytes]]:
    session = Session(
        made.graph, backend, initial=made.initial, functions=made.functions, fast=fast
    )
    feeds = {str(ref): array for ref, array in made.feeds.items()}
    runs = [session.run(list(made.fetches), feeds, made.targets) for _ in range(3)]
    assert session.rounding == []
    return [(array.dtype, array.tobytes()) for run in runs for array in run]


@pytest.mark.parametrize("name", NAMES)
def test_fast_runs_are_recorded_ones(name: str) -> None:
    made = program(name)
    recorded = three_runs(made, NumpyBackend(), fast=False)
    assert BFLOAT16 in {dtype for dtype, _ in recorded}
    assert three_runs(made, NumpyBackend(), fast=True) == recorded


@pytest.mark.parametrize("name", ["tutorial", "while_loop", "two_networks"])
def test_a_card_gives_the_same(name: str) -> None:
    made = program(name)
    card = CupyBackend(TF_ON_GPU, "gpu", "a card that does not exist", FakeCupy())
    wanted = three_runs(made, NumpyBackend(), fast=False)
    for fast in (False, True):
        assert three_runs(made, card, fast) == wanted


def test_large_tensors_are_gone_through_in_blocks_and_parts() -> None:
    """By several threads, where there are some; nothing of it changes a bit."""
    size = 600_000
    build = GraphBuilder()
    x = build.placeholder("x", "bfloat16", (size,))
    y = tf.tanh(tf.add(tf.multiply(x, x), tf.exp(tf.negative(x))))
    numbers = np.random.default_rng(5).normal(size=size).astype(BFLOAT16)
    found = [
        Session(build.build(), fast=fast).run([y.ref], {"x": numbers})[0] for fast in (False, True)
    ]
    assert found[0].tobytes() == found[1].tobytes()

    def rounded(array: np.ndarray) -> np.ndarray:
        return array.astype(BFLOAT16).astype(np.float32)

    wide = numbers.astype(np.float32)
    wanted = np.tanh(rounded(rounded(wide * wide) + rounded(np.exp(-wide))))
    np.testing.assert_array_equal(found[0], wanted.astype(BFLOAT16))
