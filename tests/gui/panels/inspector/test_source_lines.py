"""The line of source at a node, and the way to it in the user's editor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QProcess, Qt

from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.foreign_origin import ForeignOrigin, foreign_origin, source_line
from gradstep.core.io.onnx.onnx_document import from_onnx
from gradstep.core.io.open_document import read
from gradstep.gui.commands.source_commands import editor_command, source_path
from gradstep.gui.panels.device_diff.device_diff_panel import DeviceDiffPanel
from gradstep.gui.panels.inspector.gradient_code import CodePreview
from gradstep.gui.panels.inspector.inspector_panel import InspectorPanel
from gradstep.gui.panels.widgets.small_labels import Link, Text
from tests.support import onnx_models as onnx
from tests.traces.trace_archive import traces


@pytest.fixture(scope="module")
def hooked() -> Document:
    return read(traces() / "hook.gstrace")


def opened(bench: Any, show: Callable[..., Any], document: Document, *names: str) -> Any:
    bench.space.open_document(document, None)
    bench.space.debugger.flush()
    bench.space.select(names)
    return show(InspectorPanel(bench.space), 328, 900)


def _text(panel: Any) -> str:
    return str(panel.source.findChild(CodePreview).toPlainText())


@pytest.mark.slow
def test_the_line_is_shown_with_those_around_it(
    bench: Any, show: Callable[..., Any], hooked: Document
) -> None:
    panel = opened(bench, show, hooked, "m/linear/BiasAdd")
    assert panel.source.isVisible()
    origin = foreign_origin(hooked.graph["m/linear/BiasAdd"])
    assert origin is not None
    assert panel.source.findChild(Link).text() == f"{origin.file}:{origin.line}"
    assert "return self.m(h)" in _text(panel)
    view = panel.source.findChild(CodePreview)
    [mark] = view.extraSelections()
    assert mark.cursor.block().text().strip() == "return self.m(h)"


@pytest.mark.slow
def test_a_foreign_operation_is_one_thing(
    bench: Any, show: Callable[..., Any], hooked: Document
) -> None:
    """Its parts are selected together, as a closed box is: what it gives is shown."""
    parts = [op.name for op in hooked.graph if op.name.startswith("m/linear/")]
    assert len(parts) > 1
    panel = opened(bench, show, hooked, *parts)
    assert panel.source.isVisible()
    assert "return self.m(h)" in _text(panel)


@pytest.mark.slow
def test_what_was_drawn_here_has_none(bench: Any, show: Callable[..., Any]) -> None:
    bench.open("tutorial")
    bench.space.select(["d"])
    panel = show(InspectorPanel(bench.space), 328, 900)
    assert not panel.source.isVisible()


@pytest.mark.slow
def test_a_click_opens_the_editor(
    bench: Any, show: Callable[..., Any], qtbot: Any, hooked: Document, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    assert hooked.recorded is not None
    [(file, text)] = hooked.recorded.sources.items()
    monkeypatch.chdir(tmp_path)
    there = tmp_path / "models.py"
    there.write_text(text, encoding="utf-8")
    kept = replace(hooked.recorded, paths={file: str(there)})
    started: list[list[str]] = []
    monkeypatch.setattr(
        QProcess, "startDetached", lambda name, args: (started.append([name, *args]) or True, 1)
    )
    monkeypatch.setattr("gradstep.gui.commands.source_commands.settings", lambda: _Settings)
    panel = opened(bench, show, hooked.with_(recorded=kept), "m/linear/BiasAdd")
    origin = foreign_origin(hooked.graph["m/linear/BiasAdd"])
    assert origin is not None
    qtbot.mouseClick(panel.source.findChild(Link), Qt.MouseButton.LeftButton)
    assert started == [["my editor", "--at", f"{there}:{origin.line}"]]
    there.write_text("\n" + text, encoding="utf-8")  # another line is there now
    qtbot.mouseClick(panel.source.findChild(Link), Qt.MouseButton.LeftButton)
    assert len(started) == 1
    assert "not on this machine, or is another one" in bench.messages[-1]


def test_a_run_stops_at_a_line(
    bench: Any, show: Callable[..., Any], qtbot: Any, hooked: Document
) -> None:
    panel = opened(bench, show, hooked, "m/linear/BiasAdd")
    line = source_line(hooked.graph["m/linear/BiasAdd"])

    def link() -> Any:
        panel.refresh()  # as it does a moment later
        return panel.source.findChildren(Link, "inspector.source.break")[-1]

    qtbot.mouseClick(link(), Qt.MouseButton.LeftButton)
    assert bench.space.document.breakpoints == (Breakpoint(line, BreakpointKind.LINE),)
    assert link().text() == "remove the breakpoint"
    bench.run("continue_")
    assert bench.space.stop.reason == "breakpoint"
    step = bench.space.program.steps[bench.space.stop.step]
    assert source_line(hooked.graph[step.op]) == line
    qtbot.mouseClick(link(), Qt.MouseButton.LeftButton)
    assert bench.space.document.breakpoints == ()
    assert link().text() == "break here"


class _Settings:
    editor = "'my editor' --at {file}:{line}"


@pytest.mark.parametrize("told", ["/etc/passwd", "relative.py", "", "/no/such/file.py"])
def test_what_a_trace_names_is_opened_only_if_it_is_the_source(
    bench: Any, hooked: Document, told: str
) -> None:
    assert hooked.recorded is not None
    kept = replace(hooked.recorded, paths={"x.py": told}, sources={"x.py": "secret line\n"})
    bench.space.open_document(hooked.with_(recorded=kept), None)
    with pytest.raises(GradstepError, match="not on this machine"):
        source_path(bench.space, ForeignOrigin("aten.x.default", "s", "x.py", 1))


@pytest.mark.parametrize(
    ("setting", "visual", "there", "wanted"),
    [
        ("ed {file} {line}", "code", {"code"}, ["ed", "/a b.py", "7"]),
        ("", "code --wait", {"code"}, ["code", "--wait", "-g", "/a b.py:7"]),
        ("", "gedit", {"gedit", "code"}, ["gedit", "+7", "/a b.py"]),
        ("", "vim", {"vim", "code"}, ["code", "-g", "/a b.py:7"]),
        ("", "", {"subl"}, ["subl", "/a b.py:7"]),
        ("", "", {"kate"}, ["kate", "+7", "/a b.py"]),
    ],
)
def test_editors(setting: str, visual: str, there: set[str], wanted: list[str]) -> None:
    found = editor_command(
        Path("/a b.py"),
        7,
        setting,
        {"VISUAL": visual},
        lambda name: name if name in there else None,
    )
    assert found == wanted


def test_no_editor_is_said() -> None:
    with pytest.raises(GradstepError, match="no editor") as caught:
        editor_command(Path("/a.py"), 7, "", {"VISUAL": "vim"}, lambda name: None)
    assert "$VISUAL" in caught.value.hint


def test_what_was_recorded_can_be_compared_with(
    bench: Any, show: Callable[..., Any], hooked: Document
) -> None:
    """In a document that has it, and in no other."""
    bench.open("tutorial")
    panel = show(DeviceDiffPanel(bench.space), 900, 400)
    assert "recorded" not in panel.devices.chosen
    bench.space.open_document(hooked, None)
    bench.space.debugger.flush()
    assert panel.devices.chosen == ["recorded"]
    panel.run.click()
    [found] = bench.space.comparisons
    assert found.right == "recorded"
    assert found.first_divergence in {row.name for row in panel.model.rows if hasattr(row, "name")}
    bench.open("tutorial")
    assert "recorded" not in panel.devices.chosen


@pytest.mark.slow
def test_a_name_that_is_none_here_is_shown(bench: Any, show: Callable[..., Any]) -> None:
    """Of an operator, and of a weight, which is no operator."""
    made = onnx.graph([onnx.node("Mul", "x onnx::w*1", "y", "a b")], {"x": ("float32", [2])}, {},
                      {"onnx::w*1": np.ones(2, np.float32)})  # fmt: skip
    document = from_onnx(onnx.model(made))
    panel = opened(bench, show, document, "a_b/Mul")
    assert "called a b" in [text.text() for text in panel.source.findChildren(Text)]
    bench.space.select(["onnx_w_1"])
    panel = show(InspectorPanel(bench.space), 328, 900)
    assert panel.source.isVisible()
    assert "called onnx::w*1" in [text.text() for text in panel.source.findChildren(Text)]
    bench.space.select(["x"])
    assert not show(InspectorPanel(bench.space), 328, 900).source.isVisible()
