"""A backward of the program's own as a gradient function: switched on, it is PyTorch's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gradstep.core.document.document import CodeKind, Document
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.io.open_document import read
from gradstep.core.lowering.foreign_graph import (
    CustomFunction,
    ForeignNode,
    ForeignRef,
    ForeignTensor,
)
from gradstep.core.lowering.gradient_source import gradient_source
from gradstep.core.lowering.lowering_table import UnloweredError
from gradstep.core.program.derive import derive
from gradstep.gpu.devices import Devices
from tests.traces.trace_archive import traces


def _with_overrides(on: bool) -> Document:
    document = read(traces() / "own_functions.gstrace")
    own = tuple(replace(o, enabled=on) for o in document.request.overrides)
    return document.with_(request=replace(document.request, overrides=own))


@pytest.mark.parametrize("on", [False, True])
def test_switched_on_and_trusted_it_is_pytorchs(on: bool) -> None:
    document = _with_overrides(on)
    program = derive(document, trusted=True)
    assert document.recorded is not None
    session = Session(program.graph, initial=program.initial)
    feeds = {str(ref): array for ref, array in program.feeds.items()}
    for ref in program.request.wrt:
        wanted = document.recorded.gradients[str(ref)].array
        [found] = session.run([program.gradients[ref]], feeds)
        assert np.allclose(found, wanted, rtol=1e-4, atol=1e-6) is on


def test_it_is_off_until_then() -> None:
    document = read(traces() / "own_functions.gstrace")
    assert {item.kind for item in document.code.values()} == {CodeKind.GRADIENT}
    assert not [o for o in document.request.overrides if o.enabled]
    assert "# class Straight(torch.autograd.Function):" in document.code["Straight"].source
    assert "switch its override on at Straight/own_gradient" in document.note


def test_then_nothing_differs_from_what_was_recorded() -> None:
    found = Devices().compare(derive(_with_overrides(True), trusted=True), "cpu", "recorded")
    assert [node.name for node in found.nodes if node.differs] == []
    assert {node.phase for node in found.nodes} == {"forward", "backward"}


# -- the text --------------------------------------------------------------------------------------

ONE = ForeignTensor("float32", (2,))
X, Y, G = ForeignRef("x"), ForeignRef("y"), ForeignRef("ones")


def _node(name: str, op: str, **args: object) -> ForeignNode:
    return ForeignNode(name, op, args, (ONE,), backward="F")


def _source(*nodes: ForeignNode, result: ForeignRef | None, source: str = "") -> str:
    function = CustomFunction("F", source, (X,), (Y,), (G,), (result,))
    cotangent = _node("ones", "aten.ones_like.default", self=Y)
    return gradient_source("F", function, [cotangent, *nodes]).text


def test_what_it_reads_is_an_input() -> None:
    double = _node("a/mul", "aten.mul.Tensor", self=G, other=ForeignRef("saved"))
    function = CustomFunction("F", "", (X,), (Y,), (G,), (ForeignRef("a/mul"),))
    made = gradient_source("F", function, [double])
    assert made.captured == [ForeignRef("saved")]
    assert "_a_mul = grads[0] * op.inputs[2]" in made.text
    assert made.text.endswith("return [None, _a_mul, None]\n")


def test_numbers_and_nothing() -> None:
    text = _source(_node("m", "aten.mul.Tensor", self=G, other=-2), result=ForeignRef("m"))
    assert "_m = grads[0] * (-2.0)" in text
    assert _source(result=None).endswith("return [None, None]\n")


def test_sums() -> None:
    node = _node("s", "aten.sum.dim_IntList", self=G, dim=[0, -1], keepdim=True, dtype=None)
    assert "_s = tf.reduce_sum(grads[0], axis=[0, -1], keepdims=True)" in _source(
        node, result=ForeignRef("s")
    )


@pytest.mark.parametrize(
    "node",
    [
        _node("m", "aten.fft_fft.default", self=G),
        _node("m", "aten.add.Tensor", self=G, other=G, alpha=3),
        _node("m", "aten.mul.Tensor", self=G, other="x); import os"),
    ],
)
def test_what_cannot_be_written_is_not(node: ForeignNode) -> None:
    with pytest.raises(UnloweredError, match="its backward has"):
        _source(node, result=ForeignRef("m"))


def test_a_source_is_a_comment_and_nothing_else() -> None:
    text = _source(result=G, source="x\n'''\nimport os\r\nos.exit()\x0cimport sys\u2028y")
    assert _code(text) == ["def F(op, *grads):", "    return [None, grads[0]]"]
    named = CustomFunction("F\nimport os", "", (X,), (Y,), (G,), (G,))
    assert _code(gradient_source("F", named, []).text) == _code(text)


def _code(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.strip().startswith("#")]


def test_names_of_operations_are_no_code() -> None:
    node = _node("a.b-c/é d", "aten.neg.default", self=G)
    assert _code(_source(node, result=ForeignRef(node.name)))[1:] == [
        "    _a_b_c___d = -grads[0]",
        "    return [None, _a_b_c___d]",
    ]
