"""Every import fence is seen to hold on the tree, and to fail where a violation is planted."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"


def _lint(tree: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LINT, "--no-cache", "--no-logo"],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree), "COLUMNS": "200"},
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


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the code, to plant violations in."""
    for package in ("core", "gpu", "gui"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("*.pyc"))
    for file in ("pyproject.toml", "main.py"):
        shutil.copy(ROOT / file, tmp_path)
    return tmp_path


def _plant(tree: Path, module: str, line: str) -> None:
    path = tree / f"{module.replace('.', '/')}.py"
    path.write_text(f'"""Planted."""\n\n{line}\n', encoding="utf-8")


def test_every_fence_holds(tree: Path) -> None:
    result = _lint(tree)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "0 broken" in result.stdout
    result = _ruff(tree)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    ("module", "line", "fence"),
    [
        ("core.graph.planted", "import PySide6.QtCore", "core knows neither"),
        ("core.engine.planted", "import cupy", "core knows neither"),
        ("core.host.planted", "def late():\n    import gpu", "core knows neither"),
        ("core.io.planted", "from gui import canvas", "core knows neither"),
        ("core.cli.planted", "import main", "core knows neither"),
        ("gpu.planted", "import gui", "gpu knows core, never"),
        ("gpu.planted", "from PySide6 import QtGui", "gpu knows core, never"),
        ("gui.panels.planted", "import gpu", "gui knows core, never"),
        ("gui.planted", "def late():\n    import cupy", "gui knows core, never"),
        ("gui.planted", "import main", "gui knows core, never"),
        ("core.graph.planted", "import core.ops", "downward only"),
        ("core.ops.planted", "import core.autodiff", "downward only"),
        ("core.autodiff.planted", "import core.layout", "downward only"),
        ("core.autodiff.planted", "import core.engine", "downward only"),
        ("core.engine.planted", "import core.debug", "downward only"),
        ("core.debug.planted", "import core.train", "downward only"),
        ("core.io.planted", "import core.train", "downward only"),
        ("core.train.planted", "import core.host", "downward only"),
        ("core.host.planted", "import core.cli", "downward only"),
        ("core.errors", "import core.graph", "downward only"),
    ],
)
def test_a_planted_import_is_caught(tree: Path, module: str, line: str, fence: str) -> None:
    _plant(tree, module, line)
    result = _lint(tree)
    assert result.returncode == 1, result.stdout + result.stderr
    broken = [text for text in result.stdout.splitlines() if text.endswith("BROKEN")]
    assert any(fence in text for text in broken), result.stdout


def test_a_core_package_without_a_place_is_caught(tree: Path) -> None:
    """`layers` is exhaustive: a new package has to be given its level."""
    (tree / "core" / "planted").mkdir()
    _plant(tree, "core.planted.__init__", "")
    assert _lint(tree).returncode == 1


@pytest.mark.parametrize("module", ["main", "core.planted", "gui.planted"])
def test_cupy_outside_gpu_is_caught(tree: Path, module: str) -> None:
    _plant(tree, module, "import cupy")
    assert "TID251" in _ruff(tree).stdout
