"""Colours named by what they mean, two fonts, and how Qt is told of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Literal

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

ASSETS = Path(__file__).resolve().parents[2] / "assets"

BODY = 13  # pixels; names, numbers, everything that is read
SMALL = 11  # pixels; captions and units
GRID = 8  # pixels; all distances are multiples of it (4 inside nodes)

SANS = ("Inter", "Noto Sans", "Segoe UI", "Helvetica Neue", "DejaVu Sans")
MONO = ("JetBrains Mono", "Noto Sans Mono", "Cascadia Mono", "Menlo", "DejaVu Sans Mono")


Tone = Literal[
    "forward",
    "backward",
    "update",
    "current",
    "problem",
    "override",
    "selection",
    "background",
    "panel",
    "raised",
    "hover",
    "line",
    "text",
    "muted",
    "faint",
    "disabled",
    "edge",
    "grid",
    "title",
    "selected_row",
    "current_row",
    "problem_fill",
    "stopped",
    "stopped_text",
    "on_accent",
]  # the colours of a theme, by name


@dataclass(frozen=True, eq=False)
class Theme:
    """One colour, one meaning, everywhere; the values are in assets/themes.

    forward, backward, update: a value, a gradient, a variable being updated.
    current: the step the debugger stands at. problem: also breakpoints and wrong numbers.
    override: the user's own code. selection: also links.
    background, panel, raised, hover: surfaces, from the canvas up. title: a node's title row.
    line, text, muted, faint: one-pixel lines, and text by importance, all of which can be read.
    disabled: what cannot be used now, and marks that say nothing.
    edge, grid: wires without gradient, the canvas dots.
    selected_row, current_row, problem_fill: backgrounds under text.
    stopped, stopped_text: the status bar while the debugger is stopped.
    on_accent: text on a filled accent colour.
    """

    name: str
    forward: QColor
    backward: QColor
    update: QColor
    current: QColor
    problem: QColor
    override: QColor
    selection: QColor
    background: QColor
    panel: QColor
    raised: QColor
    hover: QColor
    line: QColor
    text: QColor
    muted: QColor
    faint: QColor
    disabled: QColor
    edge: QColor
    grid: QColor
    title: QColor
    selected_row: QColor
    current_row: QColor
    problem_fill: QColor
    stopped: QColor
    stopped_text: QColor
    on_accent: QColor

    def tone(self, name: Tone) -> QColor:
        """The colour of that name."""
        color: QColor = getattr(self, name)
        return color

    @property
    def is_dark(self) -> bool:
        return self.background.lightness() < 128

    def phase(self, name: str) -> QColor:
        """The colour of "forward", "backward" or "update"; muted for anything else."""
        return self.tone(phase_tone(name))


_PHASE_TONES: Mapping[str, Tone] = {
    "forward": "forward",
    "backward": "backward",
    "update": "update",
}


def phase_tone(phase: str) -> Tone:
    """A phase's own colour; muted for what is in none."""
    return _PHASE_TONES.get(phase, "muted")


def load(name: str) -> Theme:
    """The theme assets/themes/<name>.json."""
    tokens = json.loads((ASSETS / "themes" / f"{name}.json").read_text(encoding="utf-8"))
    return Theme(name=name, **{token: QColor(value) for token, value in tokens.items()})


LIGHT = load("light")
DARK = load("dark")


def system() -> Theme:
    """The theme that the desktop asks for; dark when it does not say."""
    scheme = QGuiApplication.styleHints().colorScheme()
    return LIGHT if scheme is Qt.ColorScheme.Light else DARK


def theme_for(choice: str) -> Theme:
    """The theme for a setting: "light", "dark" or "system"."""
    return {"light": LIGHT, "dark": DARK}.get(choice) or system()


def mix(first: QColor, second: QColor, amount: float) -> QColor:
    """`amount` (0 to 1) of the second colour in the first, opaque."""
    (r, g, b, _), (red, green, blue, _) = _channels(first), _channels(second)
    return QColor(
        round(r + (red - r) * amount),
        round(g + (green - g) * amount),
        round(b + (blue - b) * amount),
    )


def _channels(color: QColor) -> tuple[int, int, int, int]:
    found: tuple[int, int, int, int] = color.getRgb()  # type: ignore[assignment]
    return found


def fade(color: QColor, alpha: float) -> QColor:
    """The colour with an opacity of `alpha` (0 to 1)."""
    result = QColor(color)
    result.setAlphaF(alpha)
    return result


def sans(size: int = BODY, strong: bool = False) -> QFont:
    """The face for words."""
    return QFont(_font(SANS, size, strong))


def mono(size: int = BODY, strong: bool = False) -> QFont:
    """The face for every number, name in code, shape and formula, so that columns line up."""
    return QFont(_font(MONO, size, strong))


@cache
def load_fonts() -> None:
    """Make the fonts of assets/fonts known to Qt; other families stand in for what they lack."""
    for path in sorted((ASSETS / "fonts").glob("*.[ot]tf")):
        QFontDatabase.addApplicationFont(str(path))
    _font.cache_clear()


@cache
def _font(families: tuple[str, ...], size: int, strong: bool) -> QFont:
    """For copies, which share what Qt has found out about it: to look that up again costs more than
    to measure a word."""
    font = QFont(list(families))
    font.setPixelSize(size)
    font.setWeight(QFont.Weight.DemiBold if strong else QFont.Weight.Normal)
    if families is MONO:
        font.setStyleHint(QFont.StyleHint.Monospace)
        font.setFixedPitch(True)
    return font


def palette(theme: Theme) -> QPalette:
    """The theme as Qt's own widgets read it."""
    role = QPalette.ColorRole
    result = QPalette()
    for which, color in {
        role.Window: theme.panel,
        role.Base: theme.panel,
        role.AlternateBase: theme.raised,
        role.Button: theme.raised,
        role.ToolTipBase: theme.raised,
        role.WindowText: theme.text,
        role.Text: theme.text,
        role.ButtonText: theme.text,
        role.ToolTipText: theme.text,
        role.BrightText: theme.problem,
        role.PlaceholderText: theme.faint,
        role.Highlight: theme.selected_row,
        role.HighlightedText: theme.text,
        role.Accent: theme.selection,
        role.Link: theme.selection,
        role.LinkVisited: theme.selection,
        role.Light: theme.hover,
        role.Midlight: theme.hover,
        role.Mid: theme.line,
        role.Dark: theme.line,
        role.Shadow: theme.background,
    }.items():
        result.setColor(which, color)
    for which in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
        result.setColor(QPalette.ColorGroup.Disabled, which, theme.disabled)
    return result


def style_sheet(theme: Theme) -> str:
    """The few rules that a palette cannot say, from assets/themes/window.qss."""
    from string import Template

    rules = (ASSETS / "themes" / "window.qss").read_text(encoding="utf-8")
    tokens = {f.name: getattr(theme, f.name) for f in fields(theme) if f.name != "name"}
    colors = {token: color.name() for token, color in tokens.items()}
    return Template(rules).substitute(colors, icons=(ASSETS / "icons").as_posix())


def apply(app: QApplication, theme: Theme) -> None:
    """Dress the whole application: Fusion, our palette, our fonts, our rules. One that is dressed
    so is left alone: every widget there is would be polished anew."""
    rules, before = style_sheet(theme), app.styleSheet()
    if before == rules:
        return
    if not before:
        load_fonts()
        app.setStyle("Fusion")
        app.setFont(sans())
    app.setPalette(palette(theme))
    if before:
        _exchange_rules(app, rules)
    else:
        app.setStyleSheet(rules)


def _exchange_rules(app: QApplication, rules: str) -> None:
    """Put rules in force that differ from those before in colours alone.

    Qt polishes each widget that it has rules for, and with each all that is in it: a widget ten
    deep ten times, and has everything laid out anew. So it forgets which there are, and each is
    polished here, once.
    """
    app.style().unpolish(app)
    app.setStyleSheet(rules)
    style = app.style()
    for widget in app.allWidgets():
        if widget.testAttribute(Qt.WidgetAttribute.WA_WState_Polished):
            style.polish(widget)
            widget.update()
