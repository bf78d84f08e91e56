"""docs/adding-a-format.md, followed to the letter: its code, in a module of its own among the
others, opens, exports and converts."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QFileDialog

from gradstep.core.cli.command_line import main
from gradstep.core.io import format_table, formats
from gradstep.core.io.open_document import read
from gradstep.gui.automation.driver import Driver
from gradstep.main import Gradstep

PAGE = (Path(__file__).parents[2] / "docs" / "adding-a-format.md").read_text(encoding="utf-8")
(SOURCE,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
(LINES,) = re.findall(r"^```\n(%ops.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
(MODULE,) = re.findall(r"new module, `core/io/formats/(\w+).py`", PAGE)


# As the process does that reads a file for the window.
CONFINED = """
import sys
from gradstep.core.host import file_worker
from gradstep.core.io import formats

formats.__path__.append(sys.argv[1])
file_worker.prepare()
print("colorsys" in sys.modules)
request = file_worker.ReadFile(path=sys.argv[2], limit=1 << 30, seconds=60)
found, _ = file_worker.answer(request, file_worker.confine)
print(type(found).__name__)
"""


@pytest.fixture(autouse=True)
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the page's module, which is found as one in core/io/formats is, and gone
    afterwards."""
    folder = tmp_path / "formats"
    folder.mkdir()
    (folder / f"{MODULE}.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(folder)])
    _forget()
    yield folder
    sys.modules.pop(f"{formats.__name__}.{MODULE}", None)
    _forget()


def _forget() -> None:
    format_table.formats.cache_clear()
    format_table._signs.cache_clear()


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """The page's file, called as nothing in particular."""
    path = tmp_path / "loss.txt"
    path.write_text(LINES, encoding="utf-8")
    return path


def test_help_lists_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["convert", "--help"], Gradstep())
    words = " ".join(capsys.readouterr().out.split())
    assert " IN .gradstep, .pb, .pbtxt, .onnx, .ops, .gradrec, .meta, .gstrace or .pt2 " in words
    assert re.search(r" OUT [^-]*\.ops", words)
    with pytest.raises(SystemExit):
        main(["run", "--help"], Gradstep())
    assert ".ops" in capsys.readouterr().out


def test_it_converts_both_ways(
    tmp_path: Path, lines: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, again = tmp_path / "kept.gradstep", tmp_path / "again.ops"
    assert main(["convert", str(lines), str(kept)], Gradstep()) == 0
    assert main(["convert", str(kept), str(again)], Gradstep()) == 0
    assert again.read_text(encoding="utf-8") == LINES
    feeds = ["--feed", "x=3", "y=[1, 2]"]
    capsys.readouterr()
    assert main(["run", str(again), "--fetch", "loss", *feeds, "--json"], Gradstep()) == 0
    assert "[3.0, 6.0]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("%ops\nx\n", "line 2: 'x' has no type"),
        ("%ops\ny Neg x\n", "line 2: there is no 'x' above it"),
        ("%ops\n\nx NoOp\nx NoOp\n", "line 4: there is another 'x' above it"),
    ],
)
def test_a_wrong_line_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    path = tmp_path / "wrong.ops"
    path.write_text(text, encoding="utf-8")
    assert main(["run", str(path)], Gradstep()) == 1
    assert said in capsys.readouterr().err


def test_what_does_not_open_is_told_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data.json").write_text("{}", encoding="utf-8")
    (tmp_path / "a.ops").write_text("", encoding="utf-8")
    assert main(["run", str(tmp_path / "data.json")], Gradstep()) == 1
    assert ", an ONNX model, a graph as lines of operations" in capsys.readouterr().err
    assert main(["run", str(tmp_path)], Gradstep()) == 1
    assert "open a file in it: a.ops" in capsys.readouterr().err


@pytest.mark.slow
def test_the_process_that_reads_files_has_imported_what_it_takes(added: Path, lines: Path) -> None:
    (module,) = added.iterdir()
    reader = "    from gradstep.core.graph.model import Graph\n"
    late = SOURCE.replace(reader, f"    import colorsys\n{reader}")
    assert late != SOURCE
    module.write_text(late, encoding="utf-8")
    command = [sys.executable, "-c", CONFINED, str(added), str(lines)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True", "DocumentSent"], done.stdout + done.stderr


@pytest.mark.slow
def test_the_dialogs_offer_it(
    driver: Driver, tmp_path: Path, lines: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered: list[str] = []
    out = tmp_path / "out.ops"

    def chosen(answer: str) -> Any:
        return lambda window, title, place, filter: (offered.append(filter) or answer, "")

    monkeypatch.setattr(QFileDialog, "getOpenFileName", chosen(""))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", chosen(str(out)))
    files = driver.window.files
    assert not files.open()
    driver.workspace.open_document(read(lines))
    assert files.export(driver.window.canvas.as_picture)
    driver.wait(out.exists, "the file")
    assert out.read_text(encoding="utf-8") == LINES
    assert offered == [
        "Graphs (*.gradstep *.pb *.pbtxt *.onnx *.ops *.gradrec *.meta *.gstrace *.pt2);;"
        "All files (*)",
        "Pictures (*.png *.svg);;TensorFlow GraphDef (*.pb *.pbtxt);;"
        "Lines of operations (*.ops);;Graphviz (*.dot);;TensorFlow script (*.py);;"
        "PyTorch script (*.torch.py);;NumPy script (*.numpy.py)",
    ]
