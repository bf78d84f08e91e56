"""The gesture under way: begun by a press or by a paste, ended by a release, a key or a click."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QMouseEvent

from gradstep.gui.canvas.interact.gestures import Gesture
from gradstep.gui.canvas.interact.mouse import Presses
from gradstep.gui.canvas.interact.overlay import Overlay
from gradstep.gui.canvas.interact.paste_gesture import Carry
from gradstep.gui.canvas.scene.scene_model import SceneModel

_Button = Qt.MouseButton


class Gestures:
    """Follows the mouse. current: the gesture under way, or None."""

    def __init__(self, presses: Presses, overlay: Overlay, stage: SceneModel) -> None:
        self._presses = presses
        self._overlay = overlay
        self.current: Gesture | None = None
        self._began_with = _Button.NoButton
        self._space_held = False
        stage.changed.connect(self._give_way)

    def press(self, event: QMouseEvent) -> None:
        if self.current is None:
            self.current, self._began_with = self._begun(event), event.button()
        elif isinstance(self.current, Carry):
            self._began_with = event.button()

    def move(self, event: QMouseEvent) -> None:
        if self.current is not None:
            self.current.move(event.position().toPoint(), event.modifiers())

    def release(self, event: QMouseEvent) -> None:
        by_other = event.button() is not self._began_with
        carried = isinstance(self.current, Carry) and self._began_with is not _Button.LeftButton
        if self.current is None or by_other or carried:
            return
        ended, self.current = self.current, None
        ended.release(event.position().toPoint(), event.modifiers())

    def carry(self, boxes: Sequence[int], before: Sequence[str]) -> None:
        """Hang boxes on the pointer until a click puts them down. before: what is selected again if
        they are taken away."""
        self._overlay.take_focus()
        self.current = self._presses.carry(boxes, before, self._forget)

    def put_down(self) -> None:
        """Leave what hangs on the pointer where it is."""
        if isinstance(self.current, Carry):
            self.current.put_down()

    def cancel(self) -> bool:
        """Give it up; whether there was one."""
        if self.current is None:
            return False
        self.current.cancel()
        self.current = None
        return True

    def hold_space(self) -> None:
        """While Space is held, a press pans."""
        self._space_held = True
        self._overlay.set_cursor(Qt.CursorShape.OpenHandCursor)

    def release_space(self) -> None:
        self._space_held = False
        self._overlay.unset_cursor()

    def _begun(self, event: QMouseEvent) -> Gesture | None:
        pixel = event.position().toPoint()
        if event.button() is _Button.MiddleButton or self._space_held:
            return self._presses.pan(pixel)
        if event.button() is not _Button.LeftButton:
            return None
        return self._presses.begin(pixel, event.modifiers())

    def _give_way(self) -> None:
        """Before anything is painted: what was pressed may not be there any more."""
        if self.current is not None and self.current.is_over:
            self.cancel()

    def _forget(self) -> None:
        self.current = None
