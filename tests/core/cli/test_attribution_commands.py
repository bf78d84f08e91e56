"""The console's `rows` and `cut`: which rows make a gradient, and where it can be ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradstep.core.cli.console.console import Console
from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.errors import GradstepError
from gradstep.core.io.open_document import read
from gradstep.core.program.derive import derive

_EXAMPLES = Path(__file__).parents[3] / "assets" / "examples"


def console(name: str) -> Console:
    program = derive(read(_EXAMPLES / f"{name}.gradstep"))
    found = Console(Scheduler(program), lambda file: program)
    found.execute("continue_")
    return found


def test_shares_of_rows_add_up_to_the_gradient() -> None:
    said = console("digits_in_batches").execute("rows")
    assert said.data["adds_up"]
    assert len(said.data["rows"]) == said.data["looked"] == said.data["size"] == 32
    assert sum(row["share"] for row in said.data["rows"]) == pytest.approx(1, abs=1e-4)
    assert said.text.endswith("all rows make 100.0 % of the gradient of run 1")


def test_before_a_run_is_done_the_one_before_it_is_meant() -> None:
    found = console("digits_in_batches")
    found.execute("step")
    found.execute("step")
    assert found.session.stop.run == 1
    assert found.execute("rows").data["run"] == found.execute("rows 1").data["run"] == 0
    with pytest.raises(GradstepError, match="run 2 has not been made to its end"):
        found.execute("rows 2")
    with pytest.raises(GradstepError, match="the number of a run"):
        found.execute("rows here")
    with pytest.raises(GradstepError, match="counted from 1"):
        found.execute("rows 0")
    found.execute("restart")
    with pytest.raises(GradstepError, match="run 1 has not been made to its end"):
        found.execute("rows")


def test_without_data_there_are_no_rows() -> None:
    with pytest.raises(GradstepError, match="no data"):
        console("tutorial").execute("rows")


def test_a_stop_at_the_cut_ends_the_gradient() -> None:
    found = console("tutorial")
    said = found.execute("cut c")
    assert said.data["passes"] == ["a"]
    assert said.data["cut"] == ["loss<0"]
    assert "with a stop at 1 wire: loss<0" in said.text
    assert found.execute("cut d of loss").data["cut"] == ["a<0"]
    with pytest.raises(GradstepError, match="name of a tensor"):
        found.execute("cut")
    with pytest.raises(GradstepError):
        found.execute("cut nothing")
