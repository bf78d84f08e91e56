"""NumPy made to compute as another system: TF32 products, no subnormal numbers."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.engine.calls.op_evaluation import run_op
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.declare.system_rules import Flush, NoRoom, Rules
from gradstep.core.ops.declare.table import lookup
from gradstep.core.ops.numerics.short_rounding import round_to_tf32
from gradstep.gpu.emulated_systems import PROFILES
from gradstep.gpu.emulation import EmulatedBackend, flush_subnormals, to_integers
from tests.support.each_case import each_of
from tests.support.rounding import Rounding, assert_rounded_alike

TINY = float(np.finfo(np.float32).tiny)
FLUSHING = EmulatedBackend(Rules(name="flushing", flush_subnormals=Flush.ARITHMETIC))
TF32 = EmulatedBackend(Rules(name="tf32", tf32=True))


def bits(value: int) -> np.ndarray:
    return np.array([value], np.uint32).view(np.float32)


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


@each_of(
    ("given_bits", "expected"),
    [
        (0x3F800000, 0x3F800000),  # 1 stays
        (0x3F800FFF, 0x3F800000),  # just under half of the last place kept: down
        (0x3F801000, 0x3F802000),  # half: away from zero
        (0x3F803000, 0x3F804000),  # half again, from an odd place
        (0xBF801000, 0xBF802000),  # the same below zero
        (0x3FFFFFFF, 0x40000000),  # carries into the exponent
        (0x7F7FFFFF, 0x7F800000),  # and over the largest number
        (0x00001000, 0x00002000),  # subnormals round as well
        (0x7F800000, 0x7F800000),  # infinity stays
    ],
)
def test_tf32_rounds_bit_patterns(given_bits: int, expected: int) -> None:
    assert round_to_tf32(bits(given_bits)).view(np.uint32).tolist() == [expected]


def test_tf32_leaves_nan_and_other_types_alone() -> None:
    assert math.isnan(round_to_tf32(bits(0x7F800001))[0])
    for other in (np.array([1.0001]), np.array([70001], np.int32)):
        assert round_to_tf32(other) is other


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_tf32_keeps_ten_bits_and_is_near(x: float) -> None:
    rounded = round_to_tf32(f32(x))
    assert rounded.view(np.uint32)[0] & 0x1FFF == 0
    assert round_to_tf32(rounded).tolist() == rounded.tolist()
    if TINY <= abs(x) < 1e38:
        assert abs(float(rounded[0]) - x) <= abs(x) * 2**-11


def test_tensorflows_documented_example_of_tf32() -> None:
    """enable_tensor_float_32_execution: 1.0001 summed 1024 times is 1024.10, or 1024 in TF32."""
    x, y = np.full((4, 1024), 1.0001, np.float32), np.ones((1024, 4), np.float32)
    op = Operation("m", "MatMul", (TensorRef("x"), TensorRef("y")))
    assert run_op(TF32, op, (x, y))[0][0, 0] == 1024
    whole = run_op(NumpyBackend(), op, (x, y))[0]
    assert_rounded_alike(whole, np.full((4, 4), 1024.1024, np.float32), Rounding(terms=1024))
    assert (whole > 1024.05).all()


def test_only_products_are_rounded_to_tf32() -> None:
    op = Operation("m", "Mul", (TensorRef("x"), TensorRef("y")))
    assert run_op(TF32, op, (f32(1.0001), f32(1)))[0].tolist() == f32(1.0001).tolist()


@given(st.floats(width=32))
def test_flushing_takes_exactly_the_subnormals(x: float) -> None:
    flushed = float(flush_subnormals(f32(x))[0])
    if abs(x) < TINY:
        assert flushed == 0
        assert math.copysign(1, flushed) == math.copysign(1, x)
    else:
        assert flushed == x or (math.isnan(flushed) and math.isnan(x))


def test_subnormal_operands_count_as_zero_too() -> None:
    op = Operation("m", "Mul", (TensorRef("x"), TensorRef("y")))
    inputs = f32(1e-40, TINY, 8), f32(1e10, 0.5, 0.5)
    assert run_op(FLUSHING, op, inputs)[0].tolist() == [0, 0, 4]
    assert (run_op(NumpyBackend(), op, inputs)[0] > 0).all()


def test_float64_keeps_its_subnormals() -> None:
    op = Operation("n", "Mul", (TensorRef("x"), TensorRef("y")))
    assert run_op(FLUSHING, op, (np.array([1e-310]), np.array([0.5])))[0].tolist() == [5e-311]


def test_what_only_moves_values_keeps_subnormals() -> None:
    op = Operation("i", "Identity", (TensorRef("x"),))
    assert run_op(FLUSHING, op, (f32(1e-40),))[0][0] > 0


def test_several_outputs_are_all_flushed() -> None:
    op = Operation("l", "SoftmaxCrossEntropyWithLogits", (TensorRef("x"), TensorRef("y")))
    logits, labels = f32(-88.5, 0), f32(0, 1)
    plain = run_op(NumpyBackend(), op, (logits, labels))[1]
    flushed = run_op(FLUSHING, op, (logits, labels))[1]
    assert 0 < plain[0] < TINY
    assert flushed[0] == 0


def test_a_whole_session_computes_as_the_emulated_system() -> None:
    """Not by the ops' forms with `out`, which write past the emulation."""
    b = GraphBuilder()
    b.one("Mul", b.placeholder("x", shape=(2,)), 0.5, name="y")
    for backend, expected in ((NumpyBackend(), TINY / 2), (FLUSHING, 0)):
        (y,) = Session(b.build(), backend).run(["y:0"], {"x:0": f32(TINY, 8)})
        assert y.tolist() == [expected, 4]


def test_kernels_are_adapted_only_where_the_rules_say_so() -> None:
    product, sum_, move = lookup("MatMul"), lookup("AddV2"), lookup("Reshape")
    assert product.kernel is not None
    for definition, backend, adapts in [
        (product, TF32, True),
        (sum_, TF32, False),
        (sum_, FLUSHING, True),
        (move, FLUSHING, False),
        (product, EmulatedBackend(PROFILES["torch"]), False),
        (product, NumpyBackend(PROFILES["tf-gpu"]), False),
    ]:
        kernel, op = definition.kernel.plain, Operation("x", definition.type)
        assert kernel is not None
        assert (backend.adapt(definition, kernel, op) is not kernel) == adapts


@each_of(
    ("no_room", "source", "target", "expected"),
    [
        (NoRoom.XLA, np.float32, np.int32, [0, 2**31 - 1, -(2**31), 300, -1]),
        (NoRoom.XLA, np.float32, np.uint32, [0, 2**32 - 1, 0, 300, 0]),
        (NoRoom.XLA, np.float64, np.int64, [0, 2**63 - 1, -(2**63), 300, -1]),
        (NoRoom.XLA, np.float32, np.int8, [0, 127, -128, 127, -1]),
        (NoRoom.CUDA, np.float32, np.int32, [0, 2**31 - 1, -(2**31), 300, -1]),
        (NoRoom.CUDA, np.float64, np.int32, [-(2**31), 2**31 - 1, -(2**31), 300, -1]),
        (NoRoom.CUDA, np.float32, np.int64, [-(2**63), 2**63 - 1, -(2**63), 300, -1]),
        (NoRoom.CUDA, np.float32, np.uint64, [2**63, 2**64 - 1, 0, 300, 0]),
        (NoRoom.CUDA, np.float32, np.int8, [0, -1, 0, 44, -1]),  # 300 = 256 + 44
        (NoRoom.ONNXRUNTIME, np.float32, np.uint64, [2**63, 0, 2**63, 300, 2**64 - 1]),
    ],
)
def test_numbers_that_an_integer_has_no_room_for(
    no_room: NoRoom, source: type, target: type, expected: list[int]
) -> None:
    x = np.array([np.nan, np.inf, -np.inf, 300.7, -1.9], source)
    assert to_integers(x, np.dtype(target), no_room).tolist() == expected


def test_an_emulation_never_says_that_it_was_measured() -> None:
    backend = EmulatedBackend(PROFILES["tf-gpu"])
    assert backend.name == "emulate:tf-gpu"
    assert not backend.measured
    assert "gather_functor_gpu.cu.h" in backend.source
