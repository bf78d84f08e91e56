"""Every import fence is seen to hold on the tree, and to fail where a violation is planted."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"


def _lint(tree: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LINT, "--cache-dir", str(tree.parent / "cache"), "--no-logo"],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree.parent), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def _ruff(tree: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--no-cache", "--select=TID251", "."],
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the code, to plant violations in."""
    tree = tmp_path_factory.mktemp("fences") / "gradstep"
    for package in ("core", "gpu", "gui"):
        shutil.copytree(ROOT / package, tree / package, ignore=shutil.ignore_patterns("*.pyc"))
    for file in ("pyproject.toml", "main.py", "__init__.py"):
        shutil.copy(ROOT / file, tree)
    return tree


@pytest.fixture
def plant(tree: Path) -> Iterator[Callable[[str, str], None]]:
    """Makes a module of one line, until the test is over."""
    before: dict[Path, bytes | None] = {}

    def planted(module: str, line: str) -> None:
        path = tree.parent / f"{module.replace('.', '/')}.py"
        before[path] = path.read_bytes() if path.exists() else None
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'"""Planted."""\n\n{line}\n', encoding="utf-8")

    yield planted
    for path, content in before.items():
        if content is not None:
            path.write_bytes(content)
        elif path.name == "__init__.py":
            shutil.rmtree(path.parent)
        else:
            path.unlink()


@pytest.mark.slow
def test_every_fence_holds(tree: Path) -> None:
    result = _lint(tree)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "0 broken" in result.stdout
    result = _ruff(tree)
    assert result.returncode == 0, result.stdout


CORE, GPU, GUI, WINDOW, ROOT_API, LAYERS, AUTODIFF, ENGINE, IO, ROOMS, CANVAS = (
    "core knows neither the window nor the GPU",
    "gpu knows core, never the window",
    "gui knows core, never the GPU: device facts reach it as messages",
    "gui asks the engine: of what derives, runs and debugs it imports records and tables alone",
    "the public API stands above all but main.py, and nothing of ours is built on it",
    "Inside core, downward only",
    "Inside autodiff, reverse mode knows none of those who use it, and loops not reverse mode",
    "Inside the engine, from plans to runs of them",
    "Inside io, downward only: no reader and no writer knows the table of formats",
    "Inside gui, downward only: the frame knows canvas, panels and dialogs, and none of them it",
    "Inside the canvas, from what is where to what the mouse does with it",
)

# Module, what it imports, and the fence that says so. All are planted in one tree.
PLANTED = (
    ("gradstep.core.graph.planted_qt", "import PySide6.QtCore", CORE),
    ("gradstep.core.engine.planted_cupy", "import cupy", CORE),
    ("gradstep.core.host.planted_gpu", "def late():\n    import gradstep.gpu", CORE),
    ("gradstep.core.io.planted_gui", "from gradstep.gui import canvas", CORE),
    ("gradstep.core.cli.planted_main", "import gradstep.main", CORE),
    ("gradstep.gpu.planted_gui", "import gradstep.gui", GPU),
    ("gradstep.gpu.planted_qt", "from PySide6 import QtGui", GPU),
    ("gradstep.gui.panels.planted_gpu", "import gradstep.gpu", GUI),
    ("gradstep.gui.planted_cupy", "def late():\n    import cupy", GUI),
    ("gradstep.gui.planted_main", "import gradstep.main", GUI),
    ("gradstep.gui.model.planted_engine", "import gradstep.core.engine.plan.pruning", WINDOW),
    ("gradstep.gui.planted_derive", "from gradstep.core.program.derive import derive", WINDOW),
    ("gradstep.core.cli.planted_root", "from gradstep import open", ROOT_API),
    ("gradstep.core.notebook.planted_cli", "import gradstep.core.cli", LAYERS),
    ("gradstep.core.graph.planted_ops", "import gradstep.core.ops", LAYERS),
    ("gradstep.core.ops.planted_autodiff", "import gradstep.core.autodiff", LAYERS),
    ("gradstep.core.autodiff.planted_layout", "import gradstep.core.layout", LAYERS),
    ("gradstep.core.autodiff.planted_engine", "import gradstep.core.engine", LAYERS),
    ("gradstep.core.engine.planted_debug", "import gradstep.core.debug", LAYERS),
    ("gradstep.core.debug.planted_train", "import gradstep.core.train", LAYERS),
    ("gradstep.core.train.planted_io", "import gradstep.core.io", LAYERS),
    ("gradstep.core.document.planted_io", "import gradstep.core.io", LAYERS),
    ("gradstep.core.protocol.planted_ops", "import gradstep.core.ops", LAYERS),
    ("gradstep.core.io.planted_program", "import gradstep.core.program", LAYERS),
    ("gradstep.core.program.planted_checks", "import gradstep.core.checks", LAYERS),
    ("gradstep.core.checks.planted_host", "import gradstep.core.host", LAYERS),
    ("gradstep.core.train.planted_host", "import gradstep.core.host", LAYERS),
    ("gradstep.core.host.planted_cli", "import gradstep.core.cli", LAYERS),
    ("gradstep.core.autodiff.loops.planted", "import gradstep.core.autodiff.reverse", AUTODIFF),
    ("gradstep.core.autodiff.reverse.planted", "import gradstep.core.autodiff.explain", AUTODIFF),
    ("gradstep.core.autodiff.explain.planted", "import gradstep.core.autodiff.check", AUTODIFF),
    ("gradstep.core.engine.loops.planted_run", "import gradstep.core.engine.run", ENGINE),
    ("gradstep.core.engine.passes.planted_loops", "import gradstep.core.engine.loops", ENGINE),
    ("gradstep.core.engine.kernels.planted_memory", "import gradstep.core.engine.memory", ENGINE),
    ("gradstep.core.engine.calls.planted_passes", "import gradstep.core.engine.passes", ENGINE),
    ("gradstep.core.engine.plan.planted_calls", "import gradstep.core.engine.calls", ENGINE),
    ("gradstep.core.io.native.planted", "import gradstep.core.io.format_table", IO),
    ("gradstep.core.io.formats.planted", "import gradstep.core.io.open_document", IO),
    ("gradstep.gui.look.planted_model", "import gradstep.gui.model.workspace", ROOMS),
    ("gradstep.gui.model.planted_commands", "from gradstep.gui import commands", ROOMS),
    ("gradstep.gui.model.planted_dialogs", "import gradstep.gui.dialogs.file_choice", ROOMS),
    ("gradstep.gui.commands.planted", "import gradstep.gui.actions.action_table", ROOMS),
    ("gradstep.gui.actions.planted", "import gradstep.gui.panels.note_panel", ROOMS),
    ("gradstep.gui.canvas.planted_frame", "import gradstep.gui.frame.docks", ROOMS),
    ("gradstep.gui.panels.planted_frame", "import gradstep.gui.frame.open_windows", ROOMS),
    ("gradstep.gui.dialogs.planted_frame", "import gradstep.gui.frame.menus", ROOMS),
    ("gradstep.gui.frame.planted_app", "def late():\n    import gradstep.gui.app", ROOMS),
    ("gradstep.gui.canvas.scene.planted", "import gradstep.gui.canvas.paint.glow", CANVAS),
    ("gradstep.gui.canvas.paint.planted", "import gradstep.gui.canvas.interact.mouse", CANVAS),
    ("gradstep.gui.canvas.interact.planted", "import gradstep.gui.canvas.view", CANVAS),
)


@pytest.mark.slow
def test_planted_imports_are_caught(tree: Path, plant: Callable[[str, str], None]) -> None:
    for module, line, _ in PLANTED:
        plant(module, line)
    result = _lint(tree)
    assert result.returncode == 1, result.stdout + result.stderr
    said = _said(result.stdout)
    assert set(said) == {fence for _, _, fence in PLANTED}, result.stdout
    for module, _, fence in PLANTED:
        assert module in said[fence], f"{fence} does not name {module}:\n{result.stdout}"


def _said(report: str) -> dict[str, str]:
    """Of each broken fence, by its name: what its part of the report says."""
    names, _, contracts = report.partition("Broken contracts")
    broken = [line.partition(" BROKEN")[0] for line in names.splitlines() if " BROKEN" in line]
    parts = {name: contracts.index(f"\n{name}\n") for name in broken}
    ends = sorted([*parts.values(), len(contracts)])
    return {name: contracts[at : ends[ends.index(at) + 1]] for name, at in parts.items()}


@pytest.mark.slow
def test_what_lies_below_all_imports_nothing(tree: Path, plant: Callable[[str, str], None]) -> None:
    """All of core imports this one: it breaks the fence for each."""
    plant("gradstep.core.errors", "import gradstep.core.graph")
    assert LAYERS in _said(_lint(tree).stdout)


# Packages that have no place among their neighbours, and the fence that says so.
WITHOUT_A_PLACE = {"core": LAYERS, "gui": ROOMS, "gui.canvas": CANVAS}


@pytest.mark.slow
def test_a_package_without_a_place_is_caught(tree: Path, plant: Callable[[str, str], None]) -> None:
    """`layers` is exhaustive: a new package has to be given its level."""
    for room in WITHOUT_A_PLACE:
        plant(f"gradstep.{room}.planted.__init__", "")
    said = _said(_lint(tree).stdout)
    assert set(said) == {*WITHOUT_A_PLACE.values()}
    for fence in said.values():
        assert "planted" in fence


@pytest.mark.slow
def test_cupy_outside_gpu_is_caught(tree: Path, plant: Callable[[str, str], None]) -> None:
    for module in ("gradstep.main", "gradstep.core.planted_cupy", "gradstep.gui.planted_cupy"):
        plant(module, "import cupy")
    said = _ruff(tree).stdout
    assert said.count("TID251") == 3
    for file in ("main.py", "core/planted_cupy.py", "gui/planted_cupy.py"):
        assert file in said
