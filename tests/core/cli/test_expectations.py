"""`gradstep check` holds a document to what it says of its runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from core.graph.model import Constant
from core.io import store
from tests.core.cli.conftest import Cli
from tests.examples.build import FOLDER


def test_a_document_is_held_to_what_it_says(cli: Cli, tmp_path: Path) -> None:
    document = store.load(FOLDER / "tutorial.gradstep")
    good = cli("check", FOLDER / "tutorial.gradstep", "--feed", "data=[9,9]", "--json")
    assert good.status == 0
    assert len(good.json["expectations"]) == len(document.expectations)
    assert all(e["ok"] for e in good.json["expectations"]), "of the file, whatever is fed besides"
    first, *rest = document.expectations
    wrong = replace(first, value=Constant(-1.0), other="")
    store.save(tmp_path / "wrong.gradstep", document.with_(expectations=(wrong, *rest)))
    bad = cli("check", tmp_path / "wrong.gradstep", "--json")
    assert bad.status == 1
    assert [e["ok"] for e in bad.json["expectations"]] == [False, *(True for _ in rest)]
    assert bad.json["expectations"][0]["what"] == first.what
    assert "NOT OK" in cli("check", tmp_path / "wrong.gradstep").out
