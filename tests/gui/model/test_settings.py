"""Settings come back as they were set; what is damaged reads as the default."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray
from PySide6.QtGui import QColor

from gradstep.gui.look import icons, theme
from gradstep.gui.look.contrast import contrast
from gradstep.gui.model.settings import RECENT, Settings


@pytest.fixture
def store(tmp_path: Path) -> Settings:
    return Settings(tmp_path / "x.ini")


def test_what_is_set_is_there_at_the_next_start(tmp_path: Path) -> None:
    first = Settings(tmp_path / "x.ini")
    first.theme = "light"
    first.motion = first.pictures = first.stacks = False
    first.compare_with = "gpu"
    first.set_window("state", QByteArray(b"\x00\x01"))
    first.add_recent(tmp_path / "a.gradstep")
    del first
    again = Settings(tmp_path / "x.ini")
    assert (again.theme, again.motion, again.compare_with) == ("light", False, "gpu")
    assert not again.pictures
    assert not again.stacks
    assert again.window("state") == QByteArray(b"\x00\x01")
    assert again.recent == [tmp_path / "a.gradstep"]


def test_defaults(store: Settings) -> None:
    assert (store.theme, store.motion, store.recent) == ("system", True, [])
    assert store.pictures
    assert store.stacks
    assert store.window("geometry") is None


def test_a_damaged_file_reads_as_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "x.ini"
    path.write_bytes(
        b"[look]\ntheme=purple\n[files]\nrecent=@Invalid()\n[window]\nstate=7\n\xff\xfe"
    )
    damaged = Settings(path)
    assert damaged.theme == "system"
    assert damaged.recent == []
    assert damaged.window("state") is None


def test_recent_files_are_few_and_each_once(store: Settings, tmp_path: Path) -> None:
    for number in range(RECENT + 5):
        store.add_recent(tmp_path / f"{number}.gradstep")
    store.add_recent(tmp_path / "7.gradstep")
    assert len(store.recent) == RECENT
    assert store.recent[0].name == "7.gradstep"
    assert len(set(store.recent)) == RECENT


@pytest.mark.parametrize("name", sorted(p.stem for p in (theme.ASSETS / "icons").glob("*.svg")))
def test_every_icon_is_drawn_in_its_colour(qapp: object, name: str) -> None:
    image = icons.pixmap(name, QColor("#FF0000"), 16, 2.0).toImage()
    assert image.width() == 32
    solid = [
        image.pixelColor(x, y)
        for x in range(32)
        for y in range(32)
        if image.pixelColor(x, y).alpha() == 255
    ]
    assert solid
    if name not in ("gradstep", "check_mark", "down_mark"):
        assert {color.name() for color in solid} == {"#ff0000"}


@pytest.mark.parametrize("look", [theme.DARK, theme.LIGHT], ids=lambda look: look.name)
def test_text_can_be_read(look: theme.Theme) -> None:
    """Contrast of 4.5 to 1 (WCAG AA) wherever words stand: also links, and the faintest ones."""
    meant = (look.forward, look.backward, look.update, look.problem, look.override, look.selection)
    for surface in (look.background, look.panel, look.raised):
        for tone in (look.text, look.muted, look.faint, *meant):
            assert contrast(tone, surface) >= 4.5, (tone.name(), surface.name())
    for surface in (look.title, look.hover, look.selected_row, look.current_row):
        for tone in (look.text, look.muted):
            assert contrast(tone, surface) >= 4.5, (tone.name(), surface.name())
    assert contrast(look.stopped_text, look.stopped) >= 4.5
    assert contrast(look.on_accent, look.selection) >= 4.5
    assert contrast(look.disabled, look.panel) < contrast(look.faint, look.panel)


def test_the_style_sheet_names_only_colours_that_exist() -> None:
    for look in (theme.DARK, theme.LIGHT):
        assert "$" not in theme.style_sheet(look)
