"""On the frame of a loop: of which iteration values are shown, and the choice of another."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QToolButton, QWidget

from gradstep.core.layout.nested_scopes import SIDE, TITLE
from gradstep.core.protocol.messages import LoopShown
from gradstep.gui import commands
from gradstep.gui.canvas.interact.overlay import Overlay
from gradstep.gui.canvas.scene.camera import Camera
from gradstep.gui.canvas.scene.scene_model import SceneModel
from gradstep.gui.canvas.scene.scope_frames import Frame
from gradstep.gui.look import icons
from gradstep.gui.look.plain_text import Label, plain
from gradstep.gui.look.theme import SMALL, mono, sans
from gradstep.gui.model.workspace import Workspace

HEIGHT = 22  # pixels
MOST = 60  # frames that have one
_NOTCH = 120  # of a wheel, in Qt's eighths of a degree
_STEPS = {
    Qt.Key.Key_Up: 1,
    Qt.Key.Key_Down: -1,
    Qt.Key.Key_PageUp: 10,
    Qt.Key.Key_PageDown: -10,
}


class IterationChooser(QWidget):
    """A row: back, the number, of how many, on; and a cross that lets go of what was chosen."""

    chosen = Signal(str, object)  # a loop, and the iteration from 0 on, or None
    left = Signal()  # by Esc

    def __init__(self, workspace: Workspace, loop: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName(f"canvas.iteration.{loop}")
        self._workspace, self._loop = workspace, loop
        self._shown, self._title = LoopShown(loop=loop), ""
        self._turned = 0  # by the wheel, of what is no whole notch yet
        self.back, self.on, self.drop = QToolButton(), QToolButton(), QToolButton()
        self.field, self.of = _Number(self), Label()
        self.word = Label(self.tr("iteration"))
        self._build()
        self._connect()
        self.tint()

    def show_loop(self, shown: LoopShown) -> None:
        """What is looked at now."""
        self._shown = shown
        last = shown.reached - 1
        if not self.field.isModified():  # somebody is typing
            self.field.setText(str(min(shown.iteration + 1, shown.reached)) if last >= 0 else "0")
        digits = max(len(str(shown.reached)), 2)
        self.field.setFixedWidth(14 + digits * self.field.fontMetrics().horizontalAdvance("0"))
        known = shown.iterations >= 0
        self.of.setText(self.tr("of {}").format(shown.reached) + ("" if known else "…"))
        self.back.setEnabled(shown.iteration > 0)
        self.on.setEnabled(shown.iteration < last)
        self.field.setEnabled(last > 0)
        self.drop.setVisible(shown.chosen)
        self.setAccessibleName(self._words())
        self.field.setAccessibleName(self.tr("Iteration of {}").format(self._loop))
        self.update()

    def show_title(self, title: str) -> None:
        """While what the loop goes on."""
        self._title = title
        words = self.tr("of which iteration the values in this loop are")
        self.setToolTip(plain(f"{title}: {words}"))

    def fit(self, room: int) -> bool:
        """Be so wide at most, with as much of the title as fits; whether the rest does."""
        word = self.tr("iteration")
        self.word.setText(word)
        self.adjustSize()
        left = room - self.width()
        metrics = self.word.fontMetrics()
        between = " · "
        title = metrics.elidedText(
            self._title, Qt.TextElideMode.ElideRight, left - metrics.horizontalAdvance(between)
        )
        if len(title) > 1:  # more than the dots
            self.word.setText(f"{title}{between}{word}")
            self.adjustSize()
        return left >= 0

    def tint(self) -> None:
        """In the theme's colours."""
        theme = self._workspace.theme
        self.drop.setIcon(icons.icon("close", theme, theme.muted, 12))
        for label in (self.word, self.of):
            label.setStyleSheet(f"color: {theme.muted.name()}; background: transparent;")
        self.field.setStyleSheet(
            f"QLineEdit {{ background: transparent; color: {theme.text.name()}; padding: 0 2px;"
            f" border: 1px solid transparent; border-radius: 3px; }}"
            f"QLineEdit:hover, QLineEdit:focus {{ border-color: {theme.selection.name()}; }}"
        )
        self.update()

    def step(self, by: int) -> None:
        """To another iteration, so many on."""
        self.choose(self._shown.iteration + by)

    def choose(self, number: int) -> None:
        """Ask for iteration `number`, or the nearest that there is."""
        there = max(0, min(number, self._shown.reached - 1))
        if self._shown.reached > 0 and there != self._shown.iteration:
            self.chosen.emit(self._loop, there)
        else:
            self.show_loop(self._shown)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = self._workspace.theme, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        edge = theme.selection if self._shown.chosen else theme.line
        painter.setPen(QPen(edge, 1))
        painter.setBrush(theme.panel)  # nothing shines through of the title below
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 5, 5)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if not self.field.hasFocus():  # who zooms over it means the canvas
            event.ignore()
            return
        self._turned += event.angleDelta().y()  # sideways means nothing here
        notches = int(self._turned / _NOTCH)  # touchpads turn by less
        self._turned -= notches * _NOTCH
        if notches:
            self.step(notches)
        event.accept()

    def _build(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(7, 0, 2, 0)
        row.setSpacing(1)
        self.word.setFont(sans(SMALL))
        self.of.setFont(mono(SMALL))
        self.field.setFont(mono(SMALL))
        for part in (self.word, self.back, self.field, self.of, self.on, self.drop):
            row.addWidget(part)
        for button, name, tip, arrow in (
            (self.back, "back", self.tr("Values of the iteration before"), Qt.ArrowType.LeftArrow),
            (self.on, "on", self.tr("Values of the next iteration"), Qt.ArrowType.RightArrow),
            (self.drop, "drop", self.tr("Where the debugger stands, or the last iteration"), None),
        ):
            button.setObjectName(f"{self.objectName()}.{name}")
            button.setAutoRaise(True)
            button.setFixedSize(QSize(18, HEIGHT - 4))
            button.setToolTip(plain(tip))
            button.setAccessibleName(tip)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.setCursor(Qt.CursorShape.ArrowCursor)
            if arrow is not None:
                button.setArrowType(arrow)
        self.drop.setIconSize(QSize(10, 10))
        self.setFixedHeight(HEIGHT)

    def _connect(self) -> None:
        self.back.clicked.connect(lambda: self.step(-1))
        self.on.clicked.connect(lambda: self.step(1))
        self.drop.clicked.connect(lambda: self.chosen.emit(self._loop, None))
        self.field.returnPressed.connect(self._read)
        self.field.editingFinished.connect(self._leave)

    def _leave(self) -> None:
        self.field.setModified(False)
        self.show_loop(self._shown)

    def _read(self) -> None:
        """The number that was typed; what is none changes nothing."""
        text = self.field.text().strip()
        self.field.setModified(False)
        self.choose(int(text[:9]) - 1 if text.isdecimal() else self._shown.iteration)

    def _words(self) -> str:
        return f"{self._loop}: {self._shown.text or self.tr('no iteration yet')}"


class _Number(QLineEdit):
    """The number, with the keys of a spin box."""

    def __init__(self, chooser: IterationChooser) -> None:
        super().__init__(chooser)
        self.setObjectName(f"{chooser.objectName()}.number")
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.setFixedHeight(HEIGHT - 4)
        self._chooser = chooser

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = _STEPS.get(Qt.Key(event.key()))
        if event.key() == Qt.Key.Key_Escape:
            self._chooser.left.emit()
        elif step is None:
            super().keyPressEvent(event)
        else:
            self._chooser.step(step)


class IterationChoosers(QObject):
    """One on each frame of a loop that has run, where it is large enough on the screen."""

    def __init__(
        self,
        workspace: Workspace,
        stage: SceneModel,
        camera: Camera,
        overlay: Overlay,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._workspace, self._stage, self._camera = workspace, stage, camera
        self._overlay = overlay
        self.shown: dict[str, IterationChooser] = {}
        stage.changed.connect(self.refresh)
        workspace.stopped.connect(self.refresh)
        workspace.program_changed.connect(self.refresh)
        workspace.theme_changed.connect(self._tint)
        camera.moved.connect(self._place)

    def refresh(self) -> None:
        """As many as loops that have run, and what they say."""
        known = commands.shown_iterations(self._workspace)
        frames = {f.loop: f for f in self._stage.arrays.frames if f.loop}
        wanted = [loop for loop in frames if loop in known and known[loop].iteration >= 0][:MOST]
        for gone in self.shown.keys() - {*wanted}:
            chooser = self.shown.pop(gone)
            chooser.hide()  # for it goes when there is nothing else to do
            chooser.deleteLater()
        for loop in wanted:
            if loop not in self.shown:
                self.shown[loop] = self._made(loop)
            self.shown[loop].show_loop(known[loop])
            title = self._stage.facts.loop_titles.get(loop, frames[loop].title)
            self.shown[loop].show_title(title)
        self._place()

    def _made(self, loop: str) -> IterationChooser:
        made = IterationChooser(self._workspace, loop, self._overlay.port)
        made.chosen.connect(self._choose)
        made.left.connect(self._overlay.take_focus)
        return made

    def _choose(self, loop: str, number: int | None) -> None:
        commands.choose_iteration(self._workspace, loop, number)

    def _tint(self) -> None:
        for chooser in self.shown.values():
            chooser.tint()

    def _place(self) -> None:
        """Over the title of each frame, as long as that has room."""
        if not self.shown:
            return
        for frame in self._stage.arrays.frames:
            if frame.loop in self.shown:
                self._put(self.shown[frame.loop], frame)

    def _put(self, chooser: IterationChooser, frame: Frame) -> None:
        x, y, width, height = frame.rect
        scale = self._camera.scale
        corner = self._camera.to_pixel(QRectF(x, y, width, TITLE).bottomLeft())
        side = round(SIDE * scale / 2)
        fits = chooser.fit(round(width * scale) - 2 * side)
        up = max(round((TITLE * scale - HEIGHT) / 2), 0)
        chooser.move(corner + QPoint(side, -HEIGHT - up))
        chooser.setVisible(fits and height * scale >= 2 * HEIGHT)
