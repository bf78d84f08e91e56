"""How much difference is allowed, by what kind of arithmetic an op does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.autodiff.check.promote_float64 import widen_array, widen_operation
from gradstep.core.engine.calls.op_evaluation import run_op
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.ops.declare.table import OpDef, all_ops, lookup
from gradstep.gpu.tolerances import tolerance, with_inherited
from tests.support.each_case import each_of, on_each_op
from tests.support.op_cases import cases

FLOATS = [np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)]
CLASSES = ["exact", "rounded", "reducing", "product", "library"]


@each_of(
    ("type_", "arithmetic"),
    [
        ("Reshape", "exact"),
        ("GatherV2", "exact"),
        ("Max", "exact"),
        ("StackPopV2", "exact"),
        ("QueueDequeueV2", "exact"),
        ("TensorArrayReadV3", "exact"),
        ("IterationValue", "exact"),
        ("AddV2", "rounded"),
        ("Sqrt", "rounded"),
        ("BiasAdd", "rounded"),
        ("Sum", "reducing"),
        ("UnsortedSegmentSum", "reducing"),
        ("MatMul", "product"),
        ("BatchMatMulV3", "product"),
        ("Exp", "library"),
        ("Atan2", "library"),
        ("Acosh", "library"),
        ("Softmax", "library"),
        ("ApplyAdam", "library"),
    ],
)
def test_ops_declare_their_arithmetic(type_: str, arithmetic: str) -> None:
    assert lookup(type_).arithmetic == arithmetic


def test_every_op_of_the_table_has_a_class() -> None:
    assert {definition.arithmetic for definition in all_ops()} == set(CLASSES)


# Their results speak of the element type: its bits, its neighbours, its lowest number.
OF_THE_TYPE = {"Bitcast", "NextAfter", "UnsortedSegmentMax", "UnsortedSegmentMin"}
EXACT = [
    definition.type
    for definition in all_ops()
    if definition.arithmetic == "exact" and definition.samples and not definition.state.counter
]


@on_each_op(map(lookup, sorted({*EXACT} - OF_THE_TYPE)))
def test_what_is_exact_gives_the_same_numbers_in_any_precision(definition: OpDef) -> None:
    """It moves, compares or chooses values, so float64 gives what float32 does, to the bit."""
    for case in cases(definition, np.float32):
        inputs = [np.asarray(x) for x in case.inputs]
        if any(x.dtype.kind == "c" for x in inputs):
            continue  # the sign of a complex number is a quotient
        narrow = run_op(NumpyBackend(), case.operation, inputs)
        wide = run_op(
            NumpyBackend(), widen_operation(case.operation), [widen_array(x) for x in inputs]
        )
        for a, b in zip(narrow, wide, strict=True):
            np.testing.assert_array_equal(a, np.asarray(b).astype(np.asarray(a).dtype))


@given(st.sampled_from(CLASSES), st.sampled_from(["int32", "int64", "bool", "uint8"]))
def test_integers_are_never_close(arithmetic, dtype: str) -> None:
    allowed = tolerance(arithmetic, np.dtype(dtype))
    assert (allowed.rel_l2, allowed.scaled) == (0, 0)
    assert with_inherited(allowed, np.dtype(dtype)) == allowed


@pytest.mark.parametrize("dtype", FLOATS)
def test_classes_are_ordered_by_what_they_allow(dtype: np.dtype) -> None:
    exact, rounded, reducing, product, library = (tolerance(c, dtype) for c in CLASSES)  # type: ignore[arg-type]
    assert exact.rel_l2 == rounded.rel_l2 == 0
    assert rounded.flushed
    assert not exact.flushed
    assert 0 < library.rel_l2 < reducing.rel_l2 == product.rel_l2
    assert reducing.scaled == 4


@pytest.mark.parametrize("dtype", [np.dtype(np.complex64), np.dtype(np.complex128)])
def test_a_product_of_complex_numbers_is_several_roundings(dtype: np.dtype) -> None:
    """Two good libraries are a ULP apart, as one of them fuses a multiplication and an addition."""
    allowed = tolerance("rounded", dtype)
    assert allowed.rel_l2 == tolerance("library", dtype).rel_l2
    assert allowed.flushed
    assert tolerance("exact", dtype).rel_l2 == 0


@pytest.mark.parametrize("dtype", FLOATS)
def test_what_is_inherited_may_be_as_far_off_as_a_sum(dtype: np.dtype) -> None:
    for arithmetic in CLASSES:
        own = tolerance(arithmetic, dtype)  # type: ignore[arg-type]
        assert with_inherited(own, dtype).rel_l2 == tolerance("reducing", dtype).rel_l2


def test_tf32_widens_products_only() -> None:
    f32 = np.dtype(np.float32)
    assert tolerance("product", f32, tf32=True).rel_l2 == 1e-3
    assert tolerance("reducing", f32, tf32=True) == tolerance("reducing", f32)


def test_complex_numbers_are_as_precise_as_their_parts() -> None:
    assert tolerance("library", np.dtype(np.complex64)) == tolerance(
        "library", np.dtype(np.float32)
    )


@pytest.mark.parametrize("arithmetic", ["library", "reducing"])
def test_the_fewer_bits_the_more_room(arithmetic: str) -> None:
    kinds = (np.float16, np.float32, np.float64)
    allowed = [tolerance(arithmetic, np.dtype(k)).rel_l2 for k in kinds]  # type: ignore[arg-type]
    eps = [float(np.finfo(k).eps) for k in kinds]
    assert allowed == sorted(allowed, reverse=True)
    assert all(e <= a < 1000 * e for e, a in zip(eps, allowed, strict=True))
