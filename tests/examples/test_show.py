"""`./dev examples` plays an example in the window, and fails for one that is not as it says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QImage

from gradstep.core.graph.model import Constant
from gradstep.core.io.native import gradstep_file
from gradstep.gui.look import theme
from gradstep.gui.panels.welcome import example_card
from tests.examples import show
from tests.support.forked_engine import Server, fork_engines, fork_readers


@pytest.fixture
def elsewhere(tmp_path: Path, engine_server: Server, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two examples, of which one is wrong, and a place for their pictures."""
    fork_engines(engine_server, monkeypatch)
    fork_readers(engine_server, monkeypatch)
    good = gradstep_file.load(show.FOLDER / "gather.gradstep")
    gradstep_file.save(tmp_path / "gather.gradstep", good)
    wrong = replace(good.expectations[1], value=Constant([9.0, 9, 9]))
    bad = good.with_(expectations=(good.expectations[0], wrong))
    gradstep_file.save(tmp_path / "gather_nd.gradstep", bad)
    monkeypatch.setattr(show, "FOLDER", tmp_path)
    for module, name in ((show, "IMAGES"), (show, "PICTURES"), (example_card, "PICTURES")):
        monkeypatch.setattr(module, name, tmp_path / name.lower())
    return tmp_path


@pytest.mark.slow
def test_it_says_which_examples_hold(elsewhere: Path, qapp: Any, capsys: Any) -> None:
    assert show.main(["gather", "gather_nd", "--json"]) == 1
    good, bad = json.loads(capsys.readouterr().out)["examples"]
    assert good == {"file": "gather.gradstep", "ok": True, "text": good["text"]}
    assert "6 expectations" in good["text"]
    assert (bad["file"], bad["ok"]) == ("gather_nd.gradstep", False)
    assert "[1, 2, 0]" in bad["text"]
    image = QImage(str(elsewhere / "images" / "gather.png"))
    assert (image.width(), image.height()) == show.SIZE
    assert theme.LIGHT.problem.rgb() in image.colorTable(), "colours that mean something are kept"
    assert len(list((elsewhere / "pictures").glob("gather-*.webp"))) == 2


def test_there_is_no_such_example(capsys: Any) -> None:
    assert show.main(["nothing"]) == 2
    assert "nothing" in capsys.readouterr().err
