"""Point 2: the tutorial network is opened by its card and run; its numbers are TensorFlow's."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support import oracle
from tests.support.rounding import Rounding, rounded_alike

pytestmark = [pytest.mark.xvfb, pytest.mark.engine_process]
NATIVE = oracle.case("override_custom_add_claim")["results"]["native/float32"]


def close(found: np.ndarray | None, expected: dict) -> bool:
    return found is not None and rounded_alike(
        found, oracle.array(expected), Rounding(terms=2, steps=3)
    )


def test_a_user_opens_the_tutorial_and_runs_three_updates(user) -> None:
    user.wait(lambda: user.window.is_drawn, "the examples' pictures")
    user.take_picture("welcome")
    user.click("welcome.example.tutorial")
    user.wait(lambda: user.workspace.program is not None, "the tutorial")
    user.settle()
    assert user.value("c").tolist() == np.float32([0.06, -0.04]).tolist()
    assert user.value("loss") is None

    user.key("F5")
    assert user.text("status.state") == "Run finished"
    assert user.value("loss").item() == pytest.approx(0.66369414)
    for name in ("d", "e", "a"):
        assert close(user.value(name), NATIVE[name])
    assert close(user.gradient("a"), NATIVE["dL_da"])
    assert close(user.gradient("c"), NATIVE["dL_dc"])
    assert close(user.gradient("k"), NATIVE["dL_dk"])
    assert "0.663694" in user.says("loss")
    assert "0.568 -0.994" in user.says("c")

    for run, after in enumerate(NATIVE["adam_after_step_1_2_3"]):
        if run:
            user.key("F5")
        for name in ("c", "k"):
            assert close(user.value(name), after[name]), f"{name} after run {run + 1}"
    user.take_picture("tutorial-three-updates")
