"""Names of nodes in the wires of a GraphDef."""

from __future__ import annotations

import pytest

from gradstep.core.io.tensorflow.wire_text import node_of


@pytest.mark.parametrize("text", ["a/b", "a/b:0", "a/b:12", "^a/b", "a/b:y:0"])
def test_a_tensor_and_what_is_waited_for_name_their_node(text: str) -> None:
    assert node_of(text) == "a/b"
