"""Examples from the start page: found, opened, stepped to the end and back, and as they say."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.xvfb


@pytest.mark.parametrize(
    ("words", "name"),
    [("override article", "override_add"), ("range device", "gather")],
)
def test_an_example_is_found_and_is_as_it_says(user, words: str, name: str) -> None:
    user.wait(lambda: user.window.is_drawn, "the examples' pictures")
    user.click("welcome.search")
    user.window.welcome.search.setText(words)
    user.click(f"welcome.example.{name}")
    user.wait(lambda: user.workspace.program is not None, "the example")
    user.wait(lambda: user.workspace.expected.checked is not None, "the check")
    user.settle()
    document = user.workspace.document
    rows = user.window.docks.by_id["note"].panel.expectations.rows
    assert rows
    assert [row.text.accessibleName() for row in rows if not row.checked.ok] == []
    assert user.text("note.title") == document.title
    user.key("F5")
    assert user.workspace.stop.error is not None or user.workspace.stop.reason == "end"
    user.key("Ctrl+Shift+F10")
    assert (user.workspace.stop.run, user.workspace.stop.step) == (0, 0)
    user.take_picture(f"example-{name}")
