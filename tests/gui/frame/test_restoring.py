"""Graph > Restore variables: a file is asked for, and its variables are those of the document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtWidgets import QFileDialog

from gradstep.core.io.tensorflow.bundle_writer import write_bundle
from gradstep.gui.actions import action_table


@pytest.mark.slow
def test_the_menu_asks_for_a_checkpoint(
    driver: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, examples: Path
) -> None:
    driver.open(examples / "tutorial.gradstep")
    space = driver.workspace
    write_bundle(str(tmp_path / "m.ckpt"), {"c": np.float32([5, 6]), "k": np.float32([7, 8])})
    asked: list[str] = []

    def ask(*words: str) -> tuple[str, str]:
        asked.append(words[-1])
        return str(tmp_path / "m.ckpt.index"), ""

    monkeypatch.setattr(QFileDialog, "getOpenFileName", ask)
    said: list[str] = []
    space.message.connect(lambda level, text: said.append(text))
    assert action_table.run("graph.restore", space)
    driver.wait(lambda: bool(said), "the values")
    assert asked[0].startswith("Checkpoints (*.index *.npz *.safetensors)")
    assert said == ["2 variables of m.ckpt are taken"]
    driver.settle()
    assert space.value("c:0").head.tolist() == [5, 6], "the engine has them"
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: ("", ""))
    before = space.document
    assert action_table.run("graph.restore", space)
    driver.settle()
    assert space.document is before
