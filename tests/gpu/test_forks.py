"""Branches on a card: values lie on the device, and shapes and axes on the host."""

from __future__ import annotations

import pytest
from hypothesis import settings

from gradstep.core.debug.history.frozen_program import Program
from gradstep.gpu.cupy_backend import CupyBackend
from gradstep.gpu.emulated_systems import TF_ON_GPU
from tests.core.debug.conftest import dynamic, tutorial
from tests.core.debug.motion.test_branches import Forks, aliases
from tests.support.drawn_share import share
from tests.support.fake_cupy import FakeCupy

__all__ = ["aliases", "dynamic", "tutorial"]


@pytest.mark.parametrize("name", ["tutorial", "dynamic", "aliases"])
@pytest.mark.slow
def test_every_branch_is_a_fresh_run_with_its_edits(
    name: str, request: pytest.FixtureRequest
) -> None:
    program: Program = request.getfixturevalue(name)
    backend = CupyBackend(TF_ON_GPU, "gpu", "a card that does not exist", FakeCupy())
    fields = {"program": program, "limit_bytes": 1 << 30, "backend": backend}
    case = type("Machine", (Forks,), fields).TestCase
    case.settings = settings(stateful_step_count=15, deadline=None, max_examples=share(8))
    case("runTest").runTest()
