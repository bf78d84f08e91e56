"""Races as problems: both ends, what each order gives, which one this run takes, what to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.graph.problems import Problem
from gradstep.core.io.open_document import read
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.program.derive import derive
from gradstep.core.program.race_problems import problems_of, races_of
from gradstep.core.program.runnable_part import drop_unfinished
from tests.support import tensorflow_graphs
from tests.support.each_case import each_of

EXAMPLES = sorted((Path(__file__).parents[3] / "assets" / "examples").glob("*.gradstep"))


def problems(
    draw: Callable[[GraphBuilder, Tensor], object], *fetches: str, targets: Sequence[str] = ()
) -> list[Problem]:
    """Of runs of what `draw` adds to a graph with one variable, `v`."""
    build = GraphBuilder()
    draw(build, build.variable("v"))
    refs = tuple(TensorRef.parse(name) for name in fetches)
    initial = {"v": Constant(np.float32(0))}
    document = Document(graph=build.build(), fetches=refs, targets=tuple(targets), initial=initial)
    return races_of(derive(document))


def test_a_read_beside_an_update_names_both_and_says_which_is_first_here() -> None:
    def draw(build: GraphBuilder, v: Tensor) -> None:
        build.one("Neg", v, name="rate")
        build.one("AssignAdd", v, 1.0, name="count")

    (problem,) = problems(draw, "rate", targets=["count"])
    assert (problem.node, problem.code, problem.severity) == ("rate", "race", "warning")
    assert problem.text == (
        "no path orders 'rate', which reads 'v', and 'count', which writes it: TensorFlow may read "
        "the value before or after. This run reads the one before"
    )
    assert problem.fix == (
        "for the value before, let 'count' run after 'rate' (a control dependency); for the one "
        "after, the other way round"
    )


@pytest.mark.parametrize("order", [("rate", "count"), ("count", "rate")])
def test_what_the_fix_says_mends_it(order: tuple[str, str]) -> None:
    def draw(build: GraphBuilder, v: Tensor) -> None:
        made: list[str] = []
        for name in order:
            with build.control_dependencies([*made]):
                if name == "rate":
                    build.one("Neg", v, name="rate")
                else:
                    build.one("AssignAdd", v, 1.0, name="count")
            made.append(name)

    assert not problems(draw, "rate", targets=["count"])


def test_all_that_read_beside_one_update_are_one_problem() -> None:
    def draw(build: GraphBuilder, v: Tensor) -> None:
        for name in "abcde":
            build.one("Neg", v, name=name)
        build.one("Assign", v, 1.0, name="set")

    (problem,) = problems(draw, *"abcde", targets=["set"])
    assert problem.text.startswith("no path orders 'a', 'b', 'c' and 2 more, which read 'v', and ")


def test_a_fetch_of_a_variable_that_is_updated() -> None:
    def draw(build: GraphBuilder, v: Tensor) -> None:
        build.one("Identity", v, name="v/read")
        build.one("AssignAdd", v, 1.0, name="count")

    (problem,) = problems(draw, "v/read", targets=["count"])
    assert problem.node == "v/read"
    assert "no path orders the fetch of 'v/read', which is 'v' itself, and 'count'" in problem.text
    assert "This run gives the one at its end" in problem.text


def test_two_that_write() -> None:
    def draw(build: GraphBuilder, v: Tensor, type: str = "Assign") -> None:
        for name in "ab":
            build.one(type, v, 1.0, name=name)

    (problem,) = problems(draw, targets=["a", "b"])
    assert problem.text.startswith("no path orders 'a' and 'b', which write 'v'")
    assert problem.text.endswith("In this run 'b' is")
    (problem,) = problems(lambda b, v: draw(b, v, "AssignAdd"), targets=["a", "b"])
    assert "TensorFlow may lose what one of them adds" in problem.text


def test_so_many_are_said_and_the_rest_counted() -> None:
    def draw(build: GraphBuilder, v: Tensor) -> None:
        for number in range(20):
            other = build.variable(f"v{number}")
            build.one("Neg", other, name=f"read{number}")
            build.one("Assign", other, 1.0, name=f"write{number}")

    found = problems(
        draw, *(f"read{i}" for i in range(20)), targets=[f"write{i}" for i in range(20)]
    )
    assert len(found) == 13
    assert found[-1].text.startswith("and 8 more updates of variables have no order")


def test_derived_updates_come_after_all_that_reads() -> None:
    """A document's gradients are taken before any update is made: nothing is left open, though a
    fetch reads the variable beside them."""
    build = GraphBuilder()
    w, x = build.variable("w"), build.placeholder("x", shape=())
    build.one("Square", build.one("Mul", w, x, name="y"), name="loss")
    build.one("Neg", w, name="metric")
    document = Document(
        graph=build.build(),
        optimizers=(Optimizer("GradientDescent", {"learning_rate": 0.1}, of=(TensorRef("loss"),)),),
        fetches=(TensorRef("metric"), TensorRef("w")),
        feeds={"x:0": Constant(np.float32(1))},
        initial={"w": Constant(np.float32(1))},
    )
    program = derive(document)
    assert "ApplyGradientDescent" in {op.type for op in program.graph}
    assert not races_of(program)


@pytest.mark.slow
@each_of("path", EXAMPLES, lambda path: path.stem)
def test_no_example_has_one(path: Path) -> None:
    assert not races_of(derive(read(path)))


# What an import runs of these is all of their ends; where that has a race, TensorFlow has it, too.
RACES = {
    # The learning rate reads the step that training counts.
    "program_estimator": ["ExponentialDecay/Cast_2"],
    # The network that is trained is copied beside its training, and the copy is read beside that.
    "dqn": ["Assign", "Assign_1", "target/MatMul", "target/add"],
    # One network's gradients read what the other's training updates.
    "two_networks_var_list": ["gradients/MatMul_1_grad/MatMul"],
    # A second gradient, which is fetched, beside the one that is trained by.
    "while_nested_training": ["gradients/outer/While"],
    "adam_minimize": [],
    "batch_norm_update_ops": [],
    "center_loss": [],
    "cond_updates": [],
    "cond_variables_ref": [],
    "while_assigns": [],
}


@pytest.mark.parametrize("name", RACES)
def test_graphs_that_tensorflow_wrote(name: str) -> None:
    program = derive(tensorflow_graphs.document(name))
    assert [problem.node for problem in races_of(program)] == RACES[name]


def test_a_race_is_said_once_while_some_of_the_run_waits_for_a_feed() -> None:
    """Also where both ends of it run meanwhile, and where one of them does not."""
    build = GraphBuilder()
    v, x = build.variable("v"), build.placeholder("x", shape=())
    build.one("Mul", x, build.one("Neg", v, name="rate"), name="update")
    build.one("AssignAdd", v, 1.0, name="count")
    build.one("Assign", build.variable("w"), build.one("Exp", x, name="of_x"), name="write")
    build.one("Neg", build.get("w"), name="read")
    names = ("update", "count", "write", "read")
    program = derive(Document(graph=build.build(), targets=names))
    found = problems_of(DebugSession(drop_unfinished(program)))
    races = [problem for problem in found if problem.code == "race"]
    assert [problem.node for problem in races] == ["rate", "read"]
    assert races == races_of(program)


def test_a_program_that_cannot_run_has_none() -> None:
    build = GraphBuilder()
    build.one("Cast", build.variable("v"), DstT=DType.INT32, name="y")
    document = Document(graph=build.build(), feeds={"y:7": Constant(np.int32(1))})
    assert races_of(derive(document)) == []
