"""What is told again of a list that changes: what would be told of it anew, and of what is the very
same the very same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.step_builder import Whereabouts
from gradstep.core.engine.plan.steps import Step
from gradstep.core.graph.carry_over import continue_graph
from gradstep.core.host.retold import Retold, Told
from gradstep.core.ops.build.builder import GraphBuilder, call


class _Thing:
    """Equal to nothing but itself."""


_THINGS = [_Thing() for _ in range(6)]
_ROWS = st.lists(
    st.tuples(st.sampled_from(_THINGS), st.sampled_from(_THINGS)), max_size=12, unique=True
)


@given(st.lists(_ROWS, min_size=1, max_size=5))
def test_a_column_is_told_as_if_anew(columns: list[list[tuple[_Thing, _Thing]]]) -> None:
    retold = Retold[list[_Thing]]()
    known: dict[int, tuple[_Thing, _Thing]] = {}
    for rows in columns:
        made: list[list[_Thing]] = []

        def make(*row: _Thing, made: list[list[_Thing]] = made) -> list[_Thing]:
            made.append([*row])
            return made[-1]

        told = retold.tell(make, [a for a, _ in rows], [b for _, b in rows])
        assert [tuple(entry) for entry in told] == rows
        assert not {tuple(entry) for entry in made} & {*known.values()}  # it was told before
        known = {id(entry): row for entry, row in zip(told, rows, strict=True)}


def test_only_what_differs_is_told() -> None:
    told, said = Told(), list[int]()

    def say(number: int) -> str:
        said.append(number)
        return str(number)

    numbers = [*range(1000, 1010)]  # no small ones, which are the same to Python wherever they are
    told.begin()
    first = told.tell("numbers", say, numbers)
    said.clear()
    told.begin()
    other = [*numbers[2:5], 77, *numbers[:1], *numbers[7:]]
    assert told.tell("numbers", say, other) == [*map(str, other)]
    assert said == [77]
    told.begin()
    told.begin()  # a program that does not ask for it
    assert told.tell("numbers", say, numbers) == first
    assert said == [77, *numbers]


def test_what_is_said_of_the_very_same_stays_where_no_output_moved() -> None:
    told, made = Told(), list[int]()

    def say(of: object) -> int:
        told.begin()
        told.ends = ends
        return told.say("number", of, lambda: made.append(len(made)) or len(made))

    ends: tuple[int, int] | None = None
    first = [1]
    assert say(first) == 1
    assert say(first) == 2  # nobody knows where the outputs are
    ends = (3, 4)
    assert say(first) == 2
    assert say([1]) == 3
    told.begin()  # a program that does not say it
    assert say([1]) == 4


def test_steps_are_told_of_the_plan_before_or_all_looked_at() -> None:
    first = _plan("Tanh")
    second = _plan("Exp", first)
    for is_broken in (False, True):  # whether telling the first one came to nothing
        told = Told()
        told.begin()
        told.follow(first)
        if not is_broken:
            told.tell_steps(_type, first)
        told.begin()
        told.follow(second)
        assert told.ends == (12, 0)
        assert told.tell_steps(_type, second) == [step.op.type for step in second.steps]


def _plan(last: str, previous: Plan | None = None) -> Plan:
    """Of a graph that ends in an operation of that type."""
    build = GraphBuilder()
    x = build.placeholder("x")
    refs = [call("Neg", x).ref for _ in range(12)]
    refs.append(call(last, x, name="last").ref)
    graph = build.build()
    if previous is not None:
        graph = continue_graph(graph, previous.graph)
    return compile_plan(graph, refs, fed=[x.ref], previous=previous)


def _type(step: Step, tensors: Whereabouts | None) -> str:
    assert tensors
    return step.op.type
