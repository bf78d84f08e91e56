"""Walks are in a window system of their own."""

from __future__ import annotations

import os

import pytest
from PySide6.QtGui import QGuiApplication


@pytest.mark.xvfb
def test_a_window_system_on_request(qapp: QGuiApplication) -> None:
    assert qapp.platformName() == "xcb"
    assert os.environ["DISPLAY"]
