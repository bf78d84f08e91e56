"""gradstep check --jacobian: the matrix of one operation, with what is wrong in it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gradstep.core.autodiff.check.check_result import Verdict
from gradstep.core.protocol.vocabulary import VERDICTS
from tests.core.cli.conftest import Cli

EXAMPLES = Path(__file__).parents[3] / "assets" / "examples"


def test_a_wrong_override_is_shown_where_it_is_wrong(cli: Cli) -> None:
    done = cli("check", EXAMPLES / "override_add.gradstep", "--node", "e", "--jacobian")
    assert done.status == 1
    assert "the rule 'CustomAdd' is wrong here: 6 of 12 entries" in done.out
    assert "1.17 !" in done.out
    found = cli(
        "check", EXAMPLES / "override_add.gradstep", "--node", "e", "--jacobian", "--json"
    ).json
    assert found["passed"] is False
    assert found["blocks"][0]["verdicts"] == [["wrong", "ok"], ["ok", "wrong"]]
    assert np.isclose(found["blocks"][0]["numeric"][0][0], 1)


def test_a_right_one_passes(cli: Cli) -> None:
    done = cli("check", EXAMPLES / "tutorial.gradstep", "--node", "a", "--jacobian")
    assert (done.status, "all 8 entries" in done.out) == (0, True)


def test_it_is_of_one_operation(cli: Cli) -> None:
    done = cli("check", EXAMPLES / "tutorial.gradstep", "--jacobian")
    assert done.status == 1
    assert "name it with --node" in done.err


def test_the_words_for_verdicts_are_in_the_order_of_their_numbers() -> None:
    assert tuple(verdict.value for verdict in Verdict) == VERDICTS
