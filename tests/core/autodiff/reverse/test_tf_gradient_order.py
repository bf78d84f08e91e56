"""The order in which TensorFlow reaches operations on the way back, by hand."""

from __future__ import annotations

from gradstep.core.autodiff.reverse.tf_gradient_order import rank_operations
from gradstep.core.graph.model import Graph, Operation, TensorRef
from tests.support.each_case import each_of

# y reads b and c, both read a; d reads a, too, and leads elsewhere.
WIRES: dict[str, tuple[str | None, ...]] = {
    "a": (),
    "b": ("a",),
    "c": ("a",),
    "d": ("a",),
    "y": ("b", "c"),
    "z": ("y", "b"),
    "open": (None, "a"),
}


def graph() -> Graph:
    def refs(names: tuple[str | None, ...]) -> tuple[TensorRef | None, ...]:
        return tuple(None if name is None else TensorRef(name) for name in names)

    return Graph.of([Operation(name, "Add", refs(names)) for name, names in WIRES.items()])


@each_of(
    ("of", "between", "order"),
    [
        ("y", "a b c y", "y b c a"),
        ("z", "a b c y z", "z y b c a"),  # b waits for y, which reads it as well
        ("y z", "a b c y z", "z y b c a"),  # y waits for z
        ("c b", "a b c", "c b a"),  # first come, first served
        ("y", "a b y", "y b a"),  # nobody waits for what is on no way
        ("y d", "a b c y", "y b c a"),  # d is on none
        ("y y", "a b c y", "y b c a"),
        ("open", "a open", "open a"),
    ],
)
def test_the_turn_of_an_operation_comes_after_all_that_use_it(
    of: str, between: str, order: str
) -> None:
    found = rank_operations(graph(), [TensorRef(name) for name in of.split()], {*between.split()})
    assert found == {name: rank for rank, name in enumerate(order.split())}
