"""Parts of tensors, and beside them what the run has changed in a variable."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gradstep.core.host.engine_service import EngineService
from gradstep.core.host.tensor_statistics import difference, differs
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.tensor_bytes import unpack, unpack_before


def test_a_variable_says_what_its_update_changed(
    service: EngineService, example: Callable[[str], bytes]
) -> None:
    opened, _ = service.handle(m.Open(), (example("tutorial"),))
    assert isinstance(opened, m.Opened)
    service.handle(m.Control(command="continue_"))
    reply, buffers = service.handle(m.Read(refs=["d", "c", "k"], limit=1, offset=1))
    assert isinstance(reply, m.Values)
    d, c, k = reply.parts
    assert d.update is None
    assert c.update is not None
    assert opened.program.steps[c.update.step].type == "ApplyAdam"
    now, before = unpack(c, buffers), unpack_before(c, buffers)
    assert before is not None
    np.testing.assert_array_equal(before, np.float32([-0.04]))
    assert c.update.changed == 2
    assert c.update.delta is not None
    assert c.update.delta.maximum == pytest.approx(float(now[0] - before[0]), rel=1e-6)
    assert k.update is not None
    assert k.update.step > c.update.step


def test_before_the_update_there_is_none(
    service: EngineService, example: Callable[[str], bytes]
) -> None:
    service.handle(m.Open(), (example("tutorial"),))
    service.handle(m.Control(command="run_to", target="1:3"))
    reply, _ = service.handle(m.Read(refs=["c"]))
    assert isinstance(reply, m.Values)
    assert reply.parts[0].update is None


@given(arrays(np.uint8, 5), arrays(np.uint8, 5))
def test_differences_of_whole_numbers_without_a_sign_may_be_negative(
    now: np.ndarray, before: np.ndarray
) -> None:
    expected = [int(a) - int(b) for a, b in zip(now, before, strict=True)]
    assert difference(now, before).tolist() == expected


@given(st.data())
def test_a_nan_is_like_another(data: st.DataObject) -> None:
    floats = arrays(np.float32, 4, elements=st.sampled_from([0.0, 1.0, np.nan, np.inf]))
    now, before = data.draw(floats), data.draw(floats)
    expected = [a != b and not (a != a and b != b) for a, b in zip(now, before, strict=True)]
    assert differs(now, before).tolist() == expected
