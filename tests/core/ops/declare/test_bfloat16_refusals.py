"""Which op types take no bfloat16: those whose registry in TensorFlow does not allow it."""

from __future__ import annotations

import json

import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.declare.bfloat16_refusals import REFUSALS
from gradstep.core.ops.declare.table import lookup
from tests.core.ops.catalogue.record_bfloat16 import RECORDED


def test_they_are_tensorflows() -> None:
    said = json.loads(RECORDED.read_text())["registry"]
    of_inputs = {
        op_type: {attr: text for attr, text in found.items() if attr in lookup(op_type).type_attrs}
        for op_type, found in said.items()
    }
    assert {op_type: found for op_type, found in of_inputs.items() if found} == REFUSALS
    for op_type, found in said.items():
        for attr in found.keys() - of_inputs[op_type].keys():
            assert "bfloat16" not in lookup(op_type).choices[attr]


@pytest.mark.parametrize(("op_type", "attr"), [("MatrixInverse", "T"), ("AdjustContrastv2", "T")])
def test_it_is_said_in_tensorflows_words(op_type: str, attr: str) -> None:
    build = GraphBuilder()
    inputs = [build.placeholder("x", "bfloat16", None), build.placeholder("y", "float32", ())]
    count = len(lookup(op_type).inputs)
    with pytest.raises(GradstepError, match=f"'{attr}' of bfloat16 is not in the list") as caught:
        build.op(op_type, *inputs[:count], name="it")
    assert caught.value.node == "it"
    assert "Cast" in caught.value.hint
