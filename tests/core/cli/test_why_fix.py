"""`gradstep why --fix` tries edits that may mend it; `--take` writes the document with one."""

from __future__ import annotations

from pathlib import Path

from tests.core.cli.conftest import Cli
from tests.examples.build import FOLDER

BY_HAND = str(FOLDER / "softmax_by_hand.gradstep")


def test_edits_are_tried_and_told_with_their_effect(cli: Cli) -> None:
    found = cli("why", BY_HAND, "--wrt", "by_hand/logits", "--fix", "--json").json["fixes"]
    assert [each["kind"] for each in found] == ["log_softmax", "add_epsilon", "keep_above"]
    assert [each["mends"] for each in found] == [True, True, True]
    assert [each["taken"] for each in found] == [True, False, False]
    rows = {row["what"]: (row["before"], row["after"]) for row in found[0]["rows"]}
    assert rows["NaN or infinite"] == ("3 of 6", "0 of 6")
    assert rows["norm of the gradient"] == ("NaN", "1.4765")  # that of fused/loss
    text = cli("why", BY_HAND, "--wrt", "by_hand/logits", "--fix").out
    assert "fix: Make by_hand/p and by_hand/log_p in one (LogSoftmax). In run 1," in text
    assert "That mends it." in text


def test_the_first_that_mends_it_is_taken(cli: Cli, tmp_path: Path) -> None:
    out = str(tmp_path / "mended.gradstep")
    assert "LogSoftmax" in cli("why", BY_HAND, "--take", out).out
    found = cli("why", out, "--wrt", "by_hand/logits", "--fix", "--json").json
    assert found["gradients"]["by_hand/logits"]["state"] == "ok"
    assert found["fixes"] == []
