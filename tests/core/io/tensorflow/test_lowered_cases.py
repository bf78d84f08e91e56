"""A tf.switch_case in a frozen graph, as convert_variables_to_constants_v2 writes it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.io.tensorflow.graphdef_attributes import write_attribute
from gradstep.core.io.tensorflow.graphdef_import import to_document
from gradstep.core.io.tensorflow.graphdef_proto import message

BRANCHES = [("Square", np.square, lambda x: 2 * x), ("Exp", np.exp, np.exp),
            ("Sin", np.sin, np.cos), ("Neg", np.negative, lambda x: -np.ones_like(x))]  # fmt: skip


def _graph(ways: int, outputs: int | None = None) -> Any:
    """`y`: of `x`, what branch number `n` gives; each reads a constant, too, that waits for it."""
    made = message("GraphDef")()

    def node(name: str, op: str, *inputs: str, **attrs: Any) -> str:
        found = made.node.add(name=name, op=op, input=inputs)
        for key, value in attrs.items():
            found.attr[key].CopyFrom(write_attribute(value))
        return name

    kind, number = DType.FLOAT32, DType.INT32
    node("x", "Placeholder", dtype=kind, shape=Shape((3,)))
    node("n", "Placeholder", dtype=number, shape=Shape(()))
    count = ways if outputs is None else outputs
    node("case/n/_1", "_SwitchN", "n", "n", T=number, num_outs=count)
    node("case/x/_2", "_SwitchN", "x", "n", T=kind, num_outs=count)
    done = []
    for way, (op, _, _) in enumerate(BRANCHES[:ways]):
        pivot = node(f"case/pivot_{way}", "Identity", f"case/n/_1:{way}", T=number)
        begun = node(f"begun_{way}", "NoOp", f"^{pivot}")
        given = node(f"x_{way}", "Identity", f"case/x/_2:{way}", f"^{begun}", T=kind)
        one = node(f"{way}/one", "Const", f"^{begun}", value=Constant(np.float32(1)), dtype=kind)
        y = node(f"{way}/{op}", op, given, T=kind)
        done.append(node(f"{way}/Mul", "Mul", y, one, T=kind))
    node("case/merge/_3", "Merge", *done, T=kind, N=ways)
    node("y", "Identity", "case/merge/_3", T=kind)
    return made


def _run(document: Document, names: list[str], graph: Any, x: np.ndarray, n: int) -> list[Any]:
    return Session(graph).run(names, {"x:0": x, "n:0": np.int32(n)})


@pytest.mark.parametrize("ways", [2, 3, 4])
def test_a_case_gives_what_its_branch_gives_and_its_gradient(ways: int) -> None:
    """The last one is for all numbers that no branch has."""
    document = to_document(_graph(ways), "frozen.pb")
    request = GradientRequest(of=(TensorRef("y"),), wrt=(TensorRef("x"),))
    derived = differentiate(document.graph, request)
    gradient = derived.gradients[TensorRef("x")]
    assert gradient is not None
    x = np.float32([0.5, -1, 2])
    for n in (*range(ways), ways, -1):
        _, of, slope = BRANCHES[n if 0 <= n < ways else ways - 1]
        y, dx = _run(document, ["y", str(gradient)], derived.graph, x, n)
        np.testing.assert_allclose(y, of(x), rtol=1e-6)
        np.testing.assert_allclose(dx, slope(x), rtol=1e-6)


def test_who_waits_for_a_case_waits_for_its_first_switch() -> None:
    proto = _graph(3)
    proto.node.add(name="after", op="Identity", input=["x", "^case/x/_2"])
    proto.node[-1].attr["T"].CopyFrom(write_attribute(DType.FLOAT32))
    graph = to_document(proto, "frozen.pb").graph
    assert graph["after"].control_inputs == ("case/x/_2/Switch",)
    assert not graph.by_type.get("_SwitchN")


def test_ways_that_nobody_reads_are_not_made() -> None:
    """However many the file says."""
    graph = to_document(_graph(3, outputs=2**31 - 1), "frozen.pb").graph
    assert len(graph.by_type["Switch"]) == 6
