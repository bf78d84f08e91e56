"""Matrices of a Jacobian come out of their buffers as large as they were, and empty ones too."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.protocol.jacobian_bytes import matrices
from gradstep.core.protocol.messages import JacobianBlock
from gradstep.core.protocol.tensor_bytes import pack


@pytest.mark.parametrize(("output", "input"), [((2,), (3, 1)), ((0, 3), (0, 3)), ((), (0,))])
def test_each_is_as_large_as_its_tensors(output: tuple[int, ...], input: tuple[int, ...]) -> None:
    rule = np.arange(np.prod(output) * np.prod(input), dtype=np.float64)
    block = JacobianBlock(
        output="y:0",
        input="x:0",
        output_shape=[*output],
        input_shape=[*input],
        rule=0,
        numeric=-1,
        verdicts=-1,
        wrong=0,
    )
    found = matrices(block, [pack(rule)])
    assert {*found} == {"rule"}
    assert found["rule"].shape == (np.prod(output), np.prod(input))
    assert np.array_equal(found["rule"].ravel(), rule)
