"""A user in front of the window as it starts: the start page, an engine in a process of its own."""

from __future__ import annotations

import pytest

from gradstep.gui.automation.driver import Driver
from tests.support.window import User


@pytest.fixture
def user(driver: Driver) -> User:
    return User(driver.window)
