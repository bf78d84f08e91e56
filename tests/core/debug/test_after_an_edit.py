"""A session that takes over what it can from the one before an edit shows what a new one shows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.edited_sessions import assert_as_new
from tests.support.layouts import Case
from tests.support.random_programs import programs


@given(programs(), st.data())
@pytest.mark.slow
def test_every_frame_is_that_of_a_new_session(case: Case, data: st.DataObject) -> None:
    assert_as_new(case, data, lambda: None)
