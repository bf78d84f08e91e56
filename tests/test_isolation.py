"""Tests never see, or touch, the settings of the person who runs them."""

from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest
from PySide6.QtCore import QSettings
from PySide6.QtGui import QGuiApplication

TESTS = Path(__file__).parent


def _settings() -> QSettings:
    return QSettings(QSettings.Format.IniFormat, QSettings.Scope.UserScope, "gradstep")


def test_folders_are_the_tests_own(fresh_home: Path) -> None:
    for folder in (platformdirs.user_config_dir("gradstep"), platformdirs.user_state_dir("x")):
        assert Path(folder).is_relative_to(fresh_home)
    assert Path(_settings().fileName()).is_relative_to(fresh_home)
    assert Path.home() == fresh_home


@pytest.mark.parametrize("_", range(2))
def test_every_test_starts_without_settings(_: int) -> None:
    assert _settings().allKeys() == []
    kept = _settings()
    kept.setValue("theme", "dark")
    kept.sync()
    assert Path(kept.fileName()).exists()


def test_off_screen_by_default(qapp: QGuiApplication) -> None:
    assert qapp.platformName() == "offscreen"


def test_what_needs_a_window_system_is_a_walk() -> None:
    """`./dev test` collects nothing else for it."""
    marked = {path for path in TESTS.rglob("test_*.py") if "pytest.mark.xvfb" in path.read_text()}
    assert {path.parent for path in marked - {Path(__file__)}} == {TESTS / "gui" / "walk"}
