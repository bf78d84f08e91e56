"""Which gradient is in force at an operation, by hand and for any list of overrides."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import (
    GradientRequest,
    Override,
    OverrideKind,
    gradient_name,
    native_name,
)
from gradstep.core.graph.model import GRADIENT_OP_TYPE, Operation
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.counted import Counted, counted, counting

SCOPES = ("a", "a/b", "a/b/", "ab", "/")
TARGETS = {
    OverrideKind.TYPE: ("Neg", "Exp"),
    OverrideKind.SCOPE: SCOPES,
    OverrideKind.OP: ("a/b/x", "x"),
}
_RANK = {OverrideKind.TYPE: 0, OverrideKind.SCOPE: 1, OverrideKind.OP: 2}

overrides = st.sampled_from(OverrideKind).flatmap(
    lambda kind: st.builds(
        Override,
        st.sampled_from(("f", "g", "h")),
        st.sampled_from(TARGETS[kind]),
        st.just(kind),
        st.booleans(),
    )
)


def expected(op: Operation, given: list[Override]) -> str:
    """By asking each override: one of the operation, then the deepest scope, then what the
    operation itself says, then one of the type; of equals the last."""
    ranked = [
        ((_RANK[o.kind], o.target.count("/"), i), o.gradient)
        for i, o in enumerate(given)
        if o.enabled and o.matches(op)
    ]
    by_place = [entry for entry in ranked if entry[0][0]]
    if by_place:
        return max(by_place)[1]
    own = op.gradient_op_type
    return own or (max(ranked)[1] if ranked else native_name(op))


@given(
    st.lists(overrides, max_size=6),
    st.sampled_from(("x", "a/x", "a/b/x", "ab/x", "a")),
    st.booleans(),
)
def test_the_most_particular_one_is_in_force(given: list[Override], name: str, own: bool) -> None:
    op = Operation(name, "Neg", attrs={GRADIENT_OP_TYPE: "own"} if own else {})
    assert gradient_name(op, given) == expected(op, given)


def looked_at(length: int) -> int:
    """Names, while a chain is differentiated of which each operation has an override."""
    build = GraphBuilder()
    h = build.placeholder("x", shape=(2,))
    for number in range(length):
        h = tf.tanh(h, name=f"h{number}")
    graph = counted(build.build())
    names = [name for name in graph.operations if name != "x"]
    request = GradientRequest(
        (h.ref,),
        GradientRequest.to("x", "x").wrt,
        overrides=tuple(Override("Identity", Counted(name), OverrideKind.OP) for name in names),
    )
    with counting() as found:
        differentiate(graph, request)
    return found[0]


def test_many_overrides_are_not_asked_about_each_operation() -> None:
    assert looked_at(200) < 3 * looked_at(100)
