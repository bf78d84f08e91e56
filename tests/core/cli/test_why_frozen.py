"""gradstep why of a weight that was frozen when it was captured: none there, and a number here."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read
from tests.core.cli.conftest import Cli
from tests.core.io.traces.written_traces import frozen


@pytest.mark.parametrize("saved", [False, True])
def test_that_it_was_frozen_is_said(cli: Cli, tmp_path: Path, saved: bool) -> None:
    path = tmp_path / "net.gstrace"
    path.write_bytes(frozen().packed("loss"))
    if saved:
        gradstep_file.save(tmp_path / "net.gradstep", read(path))
        path = tmp_path / "net.gradstep"
    of = ("--of", "loss/Mul")
    said = cli("why", path, *of, "--wrt", "fc/a").out
    assert said.startswith("fc/a: it was frozen when it was captured (requires_grad was False)")
    assert "PyTorch has no gradient" in said
    assert "What the graph itself would give: d loss/Mul / d fc/a: it is finite" in said
    assert "frozen" not in cli("why", path, *of, "--wrt", "fc/b").out
    assert "frozen" not in cli("why", path, *of, "--wrt", "x").out
