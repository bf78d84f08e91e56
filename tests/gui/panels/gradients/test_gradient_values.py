"""The gradients of what is trained as a table: a value and a norm for each."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document
from gradstep.core.graph.model import Constant
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.gui.panels.gradients.gradient_values import NORM, VALUE, GradientValues


def test_the_norm_of_what_holds_an_infinity_is_infinite(bench: Any) -> None:
    build = GraphBuilder()
    v = build.variable("v", shape=(2,))
    y = build.one("Sum", build.one("Sqrt", v), np.int32(0), name="y")
    document = Document(
        graph=build.build(),
        initial={"v": Constant(np.float32([0, 4]))},
        request=GradientRequest(of=(y.ref,), wrt=(v.ref,)),
    )
    bench.space.open_document(document, None)
    bench.run("continue_")
    model = GradientValues(bench.space)
    model.refresh()
    assert model.cell(0, VALUE).text == "[   Inf 0.250 ]"
    assert model.cell(0, NORM).text == "Inf"
