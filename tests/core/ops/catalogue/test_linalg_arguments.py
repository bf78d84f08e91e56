"""Equations, element types and arguments that linear algebra cannot take."""

from __future__ import annotations

from typing import Any

import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.declare.table import lookup
from tests.support.each_case import each_of

EQUATIONS = [
    ("ij,jk", 2, "Expecting exactly one '->'"),
    ("i->->i", 1, "Expecting exactly one '->'"),
    ("i,i,i->", 3, "Expecting 1 or 2 input subscripts in equation 'i,i,i->' but got: 3"),
    ("i->i", 2, "Expected 1 inputs for equation i->i but got: 2"),
    ("i->ij", 1, "has label 'j' which is not present in the input subscripts"),
    ("......i->i", 1, "found 6 periods (.) in the input subscript: ......i"),
    (".i->i", 1, "found 1 periods (.)"),
]


@each_of(("equation", "count", "words"), EQUATIONS)
def test_a_wrong_equation_is_refused(equation: str, count: int, words: str) -> None:
    builder = GraphBuilder()
    inputs = [builder.placeholder(f"in{i}") for i in range(count)]
    with pytest.raises(GradstepError) as caught:
        builder.op("Einsum", *inputs, equation=equation)
    assert words in caught.value.message


@pytest.mark.parametrize(
    ("type", "dtype"),
    [("MatMul", "int8"), ("MatMul", "bool"), ("Cholesky", "float16"), ("MatrixInverse", "int32")],
)
def test_element_types_that_tensorflow_has_no_kernel_for(type: str, dtype: str) -> None:
    builder = GraphBuilder()
    x = builder.placeholder("x", dtype, (2, 2))
    with pytest.raises(GradstepError, match=f"{type} takes .*, not {dtype}"):
        builder.op(type, *[x] * len(lookup(type).inputs))


@each_of(
    ("call", "words"),
    [
        (lambda x: tf.einsum("ij,jk->ik", x), "Got 1 inputs"),
        (lambda x: tf.einsum("i1->i", x), "Subscripts have incorrect format"),
        (lambda x: tf.einsum("ij->ii", x), "more than once"),
        (lambda x: tf.einsum("ij->k", x), "label k not present"),
        (lambda x: tf.tensordot(x, x, [[0], [0, 1]]), "1 != 2"),
        (lambda x: tf.tensordot(x, x, 3), "not larger than the rank 2"),
        (lambda x: tf.norm(x, 0), "supported vector norm"),
        (lambda x: tf.norm(x, 2, (0, 1)), "for a matrix"),
        (lambda x: tf.norm(x, axis=(0, 0)), "unique"),
        (lambda x: tf.matmul(x, x, transpose_a=True, adjoint_a=True), "Only one of"),
    ],
)
def test_wrong_arguments(call: Any, words: str) -> None:
    x = GraphBuilder().placeholder("x", shape=(2, 2))
    with pytest.raises(ValueError, match=words):
        call(x)
