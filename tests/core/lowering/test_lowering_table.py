"""Lowerings: what is declared, what is refused, and PyTorch's promotion."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.aten import ATEN
from gradstep.core.lowering.aten.aten_tensors import promoted
from gradstep.core.lowering.lowering_table import LoweringTable, UnloweredError, element_type
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.support.each_case import each_of

KINDS = [DType.BOOL, DType.UINT8, DType.INT32, DType.INT64, DType.FLOAT16, DType.FLOAT32,
         DType.FLOAT64]  # fmt: skip


def test_the_names_that_models_use_are_there() -> None:
    names = {name for name, _ in ATEN}
    assert len(names) >= 200
    assert names >= {"linear", "conv2d", "layer_norm", "scaled_dot_product_attention", "gelu"}


def test_a_variant_comes_before_its_name() -> None:
    assert ATEN.find("aten.max.dim") is not ATEN.find("aten.max.default")
    assert ATEN.find("aten.add.Tensor") is ATEN.find("aten.add.Scalar")
    assert ATEN.find("aten.no_such_thing.default") is None


def test_two_of_a_name_are_refused() -> None:
    table = LoweringTable()
    table.lower("relu")(lambda site, self: self)
    with pytest.raises(ValueError, match="relu is declared twice"):
        table.lower("relu")(lambda site, self: self)


def test_floats_of_8_bits_are_read_as_float32() -> None:
    assert element_type("bfloat16") is DType.BFLOAT16
    assert element_type("float8_e5m2") is DType.FLOAT32
    with pytest.raises(UnloweredError, match="element type qint8"):
        element_type("qint8")


def tensor(dtype: DType, rank: int) -> Tensor:
    return GraphBuilder().placeholder("x", dtype, [2] * rank)


# What torch.result_type gave: tensors of 1 or 0 axes, and numbers.
MEASURED: list[tuple[tuple[Any, ...], DType]] = [
    (((DType.FLOAT32, 1), (DType.FLOAT64, 0)), DType.FLOAT32),
    (((DType.FLOAT32, 1), (DType.FLOAT64, 1)), DType.FLOAT64),
    (((DType.INT64, 1), (DType.FLOAT32, 0)), DType.FLOAT32),
    (((DType.INT64, 1), (DType.FLOAT16, 1)), DType.FLOAT16),
    (((DType.FLOAT32, 1), (DType.BFLOAT16, 1)), DType.FLOAT32),
    (((DType.FLOAT16, 1), (DType.BFLOAT16, 1)), DType.FLOAT32),
    (((DType.BFLOAT16, 1), (DType.INT64, 1)), DType.BFLOAT16),
    (((DType.BFLOAT16, 1), 1.5), DType.BFLOAT16),
    (((DType.UINT8, 1), (DType.INT64, 0)), DType.UINT8),
    (((DType.UINT8, 1), 3), DType.UINT8),
    (((DType.BOOL, 1), 3), DType.INT64),
    (((DType.BOOL, 1), 1.5), DType.FLOAT32),
    (((DType.FLOAT64, 0), 1.5), DType.FLOAT64),
    (((DType.FLOAT16, 1), 1.5), DType.FLOAT16),
    (((DType.INT32, 0), 2), DType.INT32),
    (((DType.BOOL, 1), True), DType.BOOL),
]


@each_of(("operands", "wanted"), MEASURED)
def test_promotion_is_pytorchs(operands: tuple[Any, ...], wanted: DType) -> None:
    made = [tensor(*one) if isinstance(one, tuple) else one for one in operands]
    assert promoted(*made) is wanted
    assert promoted(*reversed(made)) is wanted


@given(st.sampled_from(KINDS), st.sampled_from(KINDS))
def test_promotion_of_equals_is_symmetric(a: DType, b: DType) -> None:
    x, y = tensor(a, 1), tensor(b, 1)
    assert promoted(x, y) is promoted(y, x)
    assert promoted(x, x) is a
