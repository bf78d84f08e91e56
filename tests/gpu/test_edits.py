"""What lies on the host and what on the device stays right whatever is edited."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.gpu.cupy_backend import CupyBackend
from gradstep.gpu.emulated_systems import TF_ON_GPU
from tests.support.edited_sessions import assert_as_new
from tests.support.fake_cupy import FakeCupy
from tests.support.layouts import Case
from tests.support.random_programs import programs


@given(programs(), st.data())
@pytest.mark.slow
def test_every_frame_is_that_of_a_new_session(case: Case, data: st.DataObject) -> None:
    assert_as_new(case, data, lambda: CupyBackend(TF_ON_GPU, "gpu", "no card", FakeCupy()))
