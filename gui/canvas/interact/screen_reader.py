"""What a screen reader hears of the canvas: the selected node, and each step's node."""

from __future__ import annotations

from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget

from gradstep.gui.canvas.scene.scene_model import SceneModel


def describe(stage: SceneModel, number: int) -> str:
    """A box in one sentence: name, type, what its rows say, what is special about it."""
    box, facts = stage.arrays.visible.boxes[number], stage.facts
    parts = [box.name, box.type]
    if not box.is_scope:
        rows = (("value", box.has_value, False), ("gradient", box.has_gradient, True))
        for word, there, of_gradient in rows:
            if there:
                parts.append(f"{word} {facts.reading(number, of_gradient).text or 'not known'}")
    if facts.shares is not None and (share := facts.shares.said(number)):
        parts.append(share)
    if number in facts.badges:
        parts.append(f"gradient overridden by {facts.badges[number]}")
    if number in facts.breakpoints:
        parts.append("breakpoint")
    if number in facts.unfinished:
        parts.append(f"waits for {facts.unfinished[number]}")
    if number in facts.problems:
        parts.append(f"problem: {facts.problems[number]}")
    return ", ".join(parts)


def selection(stage: SceneModel) -> str:
    """The selection in one sentence."""
    chosen = sorted(stage.facts.selected)
    if len(chosen) == 1:
        return describe(stage, chosen[0])
    edge = stage.workspace.selected_edge
    if edge is not None:
        return f"wire into input {edge.index} of {edge.op}"
    return f"{len(chosen)} nodes selected" if chosen else "nothing selected"


def current(stage: SceneModel) -> str:
    """The current step in one sentence; empty when the debugger does not stand in the graph."""
    number, stop = stage.facts.current, stage.workspace.stop
    if number is None or stop is None:
        return ""
    return f"{stop.phase} step at {describe(stage, number)}"


def announce(widget: QWidget, text: str) -> None:
    if text and QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, text))
