"""Random ops draw TensorFlow's numbers, run after run, and say what is wrong as it does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from gradstep.core.autodiff.check.promote_float64 import widen
from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.api.tf_random import random_normal, random_shuffle, random_uniform
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.numerics import libm, philox
from tests.support.each_case import each_of
from tests.support.philox import block

ORACLE = Path(__file__).parents[3] / "data" / "oracle" / "cases" / "random_seeds.json"
RECORDED = json.loads(ORACLE.read_text())
SHAPE = np.array([2], np.int32)
SEEDS = {"seed": 87654321, "seed2": 5}

# Two runs each with these seeds, computed by TensorFlow 2.21.
TENSORFLOW: list[tuple[str, tuple[Any, ...], dict[str, Any], list[Any]]] = [
    (
        "RandomStandardNormal",
        (np.array([5], np.int32),),
        {"dtype": DType.FLOAT32},
        [
            [-1.1780828, -0.7099414, -1.748158, -0.49537227, 0.24303888],
            [-0.4335962, 1.1093078, 1.3355999, 0.70275337, 1.1945993],
        ],
    ),
    (
        "RandomStandardNormal",
        (np.array([3], np.int32),),
        {"dtype": DType.FLOAT64},
        [
            [-0.46540936664254984, -2.0646521014272525, -0.7490927202357748],
            [0.4328676888372711, -1.2403399995779065, -1.0192750789479164],
        ],
    ),
    (
        "RandomUniform",
        (np.array([3], np.int32),),
        {"dtype": DType.FLOAT16},
        [[0.0458984375, 0.8896484375, 0.1328125], [0.05859375, 0.080078125, 0.2763671875]],
    ),
    (
        "RandomUniform",
        (np.array([3], np.int32),),
        {"dtype": DType.FLOAT64},
        [
            [0.10649075668991137, 0.5352865750082818, 0.7054680331168384],
            [0.4219329451602971, 0.4465596235137119, 0.2907530296618206],
        ],
    ),
    (
        "TruncatedNormal",
        (np.array([5], np.int32),),
        {"dtype": DType.FLOAT32},
        [
            [-1.1780828, -0.7099414, -1.748158, -0.49537227, -0.86415327],
            [-0.4335962, 1.1093078, 1.3355999, 0.70275337, 1.2154992],
        ],
    ),
    (
        "RandomUniformInt",
        (np.array([6], np.int32), np.int32(-3), np.int32(9)),
        {},
        [[4, 8, -3, 8, 5, 7], [8, -2, 1, 7, 8, 0]],
    ),
    (
        "RandomUniformInt",
        (np.array([3], np.int32), np.int64(-(2**62)), np.int64(2**62)),
        {},
        [
            [-1813556950849178577, -1739972823447203704, 1813195445233207704],
            [182704001593557052, -852506794429831909, -1866244679195646228],
        ],
    ),
    (
        "RandomShuffle",
        (np.arange(8),),
        {},
        [[7, 5, 2, 0, 4, 6, 3, 1], [0, 4, 7, 1, 3, 5, 2, 6]],
    ),
    (
        "Multinomial",
        (np.array([[0, 1, 2], [2, 1, 0]], np.float32), np.int32(6)),
        {},
        [
            [[1, 2, 2, 2, 0, 2], [0, 2, 2, 1, 1, 1]],
            [[2, 2, 2, 2, 2, 1], [0, 0, 0, 0, 0, 0]],
        ],
    ),
]


def runs(type: str, inputs: tuple[Any, ...], count: int = 2, **attrs: Any) -> list[np.ndarray]:
    """What `count` runs of one session give."""
    b = GraphBuilder()
    b.op(type, *(b.constant(x, dtype=DType.of(x.dtype)) for x in inputs), name="it", **attrs)
    session = Session(b.build())
    return [session.run(["it:0"])[0] for _ in range(count)]


@pytest.mark.parametrize("case", [k for k in RECORDED if "op_seed" in k])
def test_uniform_numbers_are_the_recorded_ones(case: str) -> None:
    seed, seed2 = next(iter(RECORDED[case]["seed,seed2"].values()))
    for name in ("session1", "session2"):
        wanted = [np.array(r["data"], np.float32) for r in RECORDED[case][name]]
        found = runs("RandomUniform", (SHAPE,), dtype=DType.FLOAT32, seed=seed, seed2=seed2)
        np.testing.assert_array_equal(found, wanted)


@each_of(("type", "inputs", "attrs", "wanted"), TENSORFLOW)
def test_numbers_are_tensorflows(
    type: str, inputs: tuple[Any, ...], attrs: dict[str, Any], wanted: list[Any]
) -> None:
    found = runs(type, inputs, **SEEDS, **attrs)
    for value, numbers in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(value, np.array(numbers, value.dtype))


def test_blocks_are_those_of_plain_integers() -> None:
    for seeds in ((0, 1), (2**64 - 1, 2**64 - 7), (2**40 + 3, 5)):
        found = philox.blocks(seeds, 2**32 - 2, 4)
        assert found.tolist() == [block(*seeds, 2**32 - 2 + i) for i in range(4)]


def test_float32_functions_are_glibcs_bit_by_bit() -> None:
    """The checksums are those of logf and sincosf of glibc 2.36, called from C."""
    bits = np.arange(1, 2**16, dtype=np.uint32) * np.uint32(127) | np.uint32(127 << 23)
    x = bits.view(np.float32) - np.float32(1)
    angle = (2 * np.pi * x.astype(float)).astype(np.float32)
    found = (libm.log(x), *libm.sine_and_cosine(angle))
    assert [crc32(y.tobytes()) for y in found] == [995136435, 1364586912, 2235705948]
    np.testing.assert_allclose(found[1], np.sin(angle.astype(float)), rtol=1e-7)


def test_without_seeds_the_name_of_the_operation_tells() -> None:
    b = GraphBuilder()
    for name in ("a", "b"):
        b.op("RandomUniform", SHAPE, dtype=DType.FLOAT32, name=name)
    first, again = (Session(b.build()).run(["a:0", "b:0"]) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first[0], first[1])


def test_numbers_have_their_distribution() -> None:
    shape = np.array([200_000], np.int32)
    (uniform,) = runs("RandomUniform", (shape,), 1, dtype=DType.FLOAT32)
    assert uniform.min() >= 0
    assert uniform.max() < 1
    assert abs(uniform.mean() - 0.5) < 0.003
    (normal,) = runs("RandomStandardNormal", (shape,), 1, dtype=DType.FLOAT32)
    assert abs(normal.mean()) < 0.01
    assert abs(normal.std() - 1) < 0.01
    (cut,) = runs("TruncatedNormal", (shape,), 1, dtype=DType.FLOAT32)
    assert np.abs(cut).max() < 2
    assert abs(cut.std() - 0.8796) < 0.01  # of a normal distribution cut at 2


def test_counts_are_tensorflows() -> None:
    """Two runs each, of TensorFlow 2.21; a rate of 10 and more is drawn in another way."""
    rates = np.array([0.5, 9.9, 10, 100])
    found = runs("RandomPoissonV2", (SHAPE, rates), **SEEDS)
    assert [x.tolist() for x in found] == [
        [[0, 9, 14, 95], [0, 15, 10, 112]],
        [[1, 4, 8, 100], [0, 15, 10, 97]],
    ]
    with pytest.raises(GradstepError, match="a rate is infinite or NaN"):
        runs("RandomPoissonV2", (SHAPE, np.array([np.nan])))


def test_counts_have_no_gradient() -> None:
    b = GraphBuilder()
    rate = b.placeholder("rate", shape=(2,))
    found = b.one("RandomPoissonV2", SHAPE, rate, dtype=DType.FLOAT32)
    with pytest.raises(GradstepError, match="No gradient defined"):
        gradients(found, rate)


def test_rows_are_shuffled_together() -> None:
    rows = np.arange(20).reshape(10, 2)
    (found,) = runs("RandomShuffle", (rows,), 1, seed=1)
    assert sorted(found.tolist()) == rows.tolist()
    assert found.tolist() != rows.tolist()


def test_a_class_without_a_finite_logit_is_never_drawn() -> None:
    logits = np.array([[0, np.nan, -np.inf, 1], [np.nan] * 4], np.float32)
    (found,) = runs("Multinomial", (logits, np.int32(500)), 1, seed=3)
    assert set(found[0].tolist()) == {0, 3}
    assert set(found[1].tolist()) == {4}  # TensorFlow's answer where nothing can be drawn


@each_of(
    ("type", "inputs", "attrs", "message"),
    [
        (
            "RandomUniform",
            (np.array([2, -1], np.int32),),
            {"dtype": DType.FLOAT32},
            "Dimension -1 must be >= 0",
        ),
        (
            "RandomUniformInt",
            (SHAPE, np.int32(3), np.int32(3)),
            {},
            "Need minval < maxval, got 3 >= 3",
        ),
        (
            "RandomUniformInt",
            (SHAPE, np.array([3], np.int32), np.int32(4)),
            {},
            "minval must be a scalar; got a tensor of shape [1]",
        ),
        (
            "Multinomial",
            (np.zeros((2, 0), np.float32), np.int32(3)),
            {},
            "num_classes should be positive, got 0",
        ),
        (
            "Multinomial",
            (np.zeros((2, 2), np.float32), np.int32(-3)),
            {},
            "Dimension size, given by scalar input 1, must be non-negative but is -3",
        ),
        ("RandomUniform", (SHAPE,), {"dtype": DType.INT32}, "takes a floating-point element type"),
        (
            "RandomUniform",
            (np.float32([2]),),
            {"dtype": DType.FLOAT32},
            "list of allowed values: int32, int64",
        ),
        ("RandomUniformInt", (SHAPE, np.int32(1), np.int64(4)), {}, "bounds of int32 or of int64"),
        ("Multinomial", (np.array([[1]]), np.int32(3)), {}, "takes floating-point numbers"),
    ],
)
def test_bad_inputs_are_refused_in_tensorflows_words(
    type: str, inputs: tuple[Any, ...], attrs: dict[str, Any], message: str
) -> None:
    with pytest.raises(GradstepError) as caught:
        runs(type, inputs, **attrs)
    assert message in caught.value.message


def test_no_gradient_flows_through_random_ops() -> None:
    b = GraphBuilder()
    x = b.placeholder("x", shape=(4,))
    b.one("Sum", random_shuffle(x, seed=1), np.array(0, np.int32), name="loss")
    assert gradients(b.get("loss"), x) == [None]


def test_the_float64_reference_draws_the_same_numbers() -> None:
    """Finite differences are taken in float64; of other masks they would say nothing."""
    b = GraphBuilder()
    with b.as_default():
        random_normal([5], seed=2, name="n")
    narrow = Session(b.build()).run(["n/AddV2"])[0]
    wide = Session(widen(b.build())).run(["n/AddV2"])[0]
    assert (narrow.dtype, wide.dtype) == (np.float32, np.float64)
    np.testing.assert_array_equal(narrow, wide)


def test_functions_make_tensorflows_ops() -> None:
    b = GraphBuilder()
    with b.as_default():
        a = random_uniform([3], -1, 1, seed=4)
        n = random_uniform([3], 2, 9, dtype="int32", seed=4)
    assert a.ref == TensorRef("random_uniform/AddV2")
    drawn = b.operation("random_uniform/RandomUniform")
    assert (drawn.attrs["seed"], drawn.attrs["seed2"]) == (87654321, 4)
    found = Session(b.build()).run([a.ref, n.ref])
    # Computed by TensorFlow 2.21: tf.random.uniform([3], -1, 1, seed=4), and of integers.
    np.testing.assert_array_equal(
        found[0], np.float32([0.913163423538208, -0.46637845039367676, 0.9955954551696777])
    )
    np.testing.assert_array_equal(found[1], [8, 5, 7])
