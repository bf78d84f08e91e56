"""Attributes as whoever needs them gets them: of the kind that is asked for, or an error there."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape
from gradstep.core.graph.model import Constant, Operation
from gradstep.core.graph.opaque_attributes import Unread
from gradstep.core.ops.declare.attribute_kinds import attribute
from gradstep.core.ops.declare.table import OpDef, all_ops, lookup
from tests.support.each_case import check_each, each_of, on_each_op

KINDS = (DType, Shape, Constant, bool, int, float, str, tuple)
ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.binary(max_size=4),
    st.sampled_from(DType),
    st.sampled_from(["float32", "int8", "odd"]),
    st.builds(Shape, st.none() | st.tuples(st.none() | st.integers())),
    st.builds(Constant, st.floats()),
    st.tuples(st.integers() | st.text(max_size=2)),
    st.just(Unread(b"", "odd", "")),
)


@given(ANYTHING, st.sampled_from(KINDS))
def test_it_is_of_that_kind_or_an_error_names_it(value: Any, kind: Any) -> None:
    op = Operation("node", "Any", attrs={"name": value})
    plain = {str: (str, bytes), float: (int, float), tuple: (tuple, list)}
    try:
        found = attribute(op, "name", kind)
    except GradstepError as error:
        said = error
    else:
        assert isinstance(found, plain.get(kind, kind))
        return
    assert said.node == "node"
    assert "'name'" in said.message


@each_of("kind", KINDS)
def test_one_that_is_missing(kind: Any) -> None:
    op = Operation("node", "Any")
    with pytest.raises(GradstepError, match="attribute 'name' is missing") as caught:
        attribute(op, "name", kind)
    assert caught.value.node == "node"
    assert attribute(op, "name", Shape, UNKNOWN) is UNKNOWN


ELEMENT_TYPES = [
    (known.type, attr)
    for known in all_ops()
    for attr, declared in known.attrs.items()
    if declared is DType or isinstance(declared, DType)
]


def test_an_element_type_that_there_is_not() -> None:
    check_each(ELEMENT_TYPES, refuses_an_odd_element_type)


def refuses_an_odd_element_type(case: tuple[str, str]) -> None:
    op_type, attr = case
    op = Operation("node", op_type, attrs={attr: "%s"})
    with pytest.raises(
        GradstepError, match=f"attribute '{attr}' (must be an element type|is '%s')"
    ) as caught:
        lookup(op_type, "node").attr(op, attr)
    assert caught.value.node == "node"


@on_each_op(all_ops())
def test_what_a_file_holds_and_nobody_reads_is_no_value(definition: OpDef) -> None:
    for attr in definition.attrs:
        op = Operation("node", definition.type, attrs={attr: Unread(b"", "a graph", "")})
        with pytest.raises(GradstepError, match=f"attribute '{attr}': a graph") as caught:
            definition.attr(op, attr)
        assert caught.value.node == "node"
