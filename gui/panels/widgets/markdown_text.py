"""Light Markdown as text that wraps: bold, code, lists, tables; names of operations are links."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QFont,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFragment,
    QTextFrameFormat,
    QTextLength,
    QTextTable,
)
from PySide6.QtWidgets import QLabel

from gradstep.core.visible_text import visible
from gradstep.gui.look.theme import BODY, GRID, Theme, mix, mono, sans
from gradstep.gui.panels.widgets.small_labels import BREAK, ThemeSource

IsName = Callable[[str], bool]
_MARKDOWN = QTextDocument.MarkdownFeature
_DIALECT = _MARKDOWN.MarkdownDialectGitHub | _MARKDOWN.MarkdownNoHTML
_JOINTS = re.compile(r"(?<=\w)(?:\((?=\S)|_(?=\w))")  # where long names are broken
_LEADING = 130  # per cent of a line's height
_OUTDENT = -22  # pixels; Qt sets lists in by 40, which is much in a narrow panel


class MarkedText(QLabel):
    """A label whose text is Markdown; `linkActivated` tells the operation that was clicked."""

    def __init__(
        self,
        theme: ThemeSource,
        name: str,
        is_name: IsName,
        narrow: bool = False,
        heading: bool = False,
    ) -> None:
        """narrow: so little room that also long words have to be broken. heading: one strong line,
        larger than the rest."""
        super().__init__()
        self._narrow, self._heading = narrow, heading
        self._theme, self._is_name, self._marked = theme, is_name, ""
        self._named: dict[str, bool] = {}  # what may be a name in it -> whether it was one
        self.setObjectName(name)
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextBrowserInteraction
            | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.setMinimumWidth(0)

    def say(self, marked: str) -> None:
        """Show this Markdown. Where it is shown already, with the same links, nothing is done."""
        marked = shown = visible(marked)
        if self._narrow:
            shown = _JOINTS.sub(lambda joint: joint.group() + BREAK, shown)
        if self._heading:
            shown = f"# {shown}"
        if shown == self._marked and all(self._is_name(n) == was for n, was in self._named.items()):
            return
        self._marked = shown
        self.setAccessibleName(marked)
        self.restyle()

    def restyle(self) -> None:
        """Take the colours from the theme anew."""
        size = BODY + 2 if self._heading else BODY
        self._named = {}
        self.setText(to_html(self._marked, self._theme(), self._links, size))

    def _links(self, name: str) -> bool:
        """Whether that is a name, which is remembered of this text."""
        return self._named.setdefault(name, self._is_name(name))


def to_html(marked: str, theme: Theme, is_name: IsName, size: int = BODY) -> str:
    """Markdown as Qt's rich text, in the faces and colours of the theme. size: pixels of a word."""
    document = QTextDocument()
    document.setDocumentMargin(0)
    document.setDefaultFont(sans())
    document.setMarkdown(marked, _DIALECT)
    for block in list(_blocks(document)):
        for fragment in list(_fragments(block)):
            _dress(document, fragment, theme, is_name, size, _whole(block))
        _space(block, last=not block.next().isValid())
    for frame in document.rootFrame().childFrames():
        if isinstance(frame, QTextTable):
            _rule(frame, theme)
    return document.toHtml()


def _blocks(document: QTextDocument) -> Iterator[QTextBlock]:
    block = document.begin()
    while block.isValid():
        yield block
        block = block.next()


def _fragments(block: QTextBlock) -> Iterator[QTextFragment]:
    place = block.begin()
    while not place.atEnd():
        yield place.fragment()
        place += 1


def _space(block: QTextBlock, last: bool) -> None:
    """Room between the lines, and below a paragraph; items of a list stand closer."""
    format = QTextBlockFormat(block.blockFormat())
    format.setLineHeight(_LEADING, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    format.setTopMargin(GRID if format.headingLevel() and block.blockNumber() else 0)
    format.setHeadingLevel(0)
    format.setBottomMargin(0 if last or (_is_code(block) and _is_code(block.next())) else GRID)
    if block.textList() is not None:
        format.setLeftMargin(_OUTDENT)
        format.setBottomMargin(GRID if block.next().textList() is None and not last else 3)
    QTextCursor(block).setBlockFormat(format)


def _whole(block: QTextBlock) -> str:
    """What the whole block is: "heading", "code" or ""."""
    if block.blockFormat().headingLevel():
        return "heading"
    return "code" if _is_code(block) else ""


def _is_code(block: QTextBlock) -> bool:
    return block.isValid() and block.blockFormat().hasProperty(QTextFormat.Property.BlockCodeFence)


def _dress(
    document: QTextDocument,
    fragment: QTextFragment,
    theme: Theme,
    is_name: IsName,
    size: int,
    whole: str,
) -> None:
    old = fragment.charFormat()
    new = QTextCharFormat()
    new.setForeground(theme.text)
    strong = whole == "heading" or old.fontWeight() > QFont.Weight.Medium
    if whole == "code" or old.fontFixedPitch():
        new.setFont(mono(size - 1, strong))
        name = fragment.text().replace(BREAK, "").removesuffix(":0")
        if is_name(name):
            new.setForeground(theme.selection)
            new.setAnchor(True)
            new.setAnchorHref(name)
    else:
        new.setFont(sans(size, strong))
        new.setFontItalic(old.fontItalic())
    cursor = QTextCursor(document)
    cursor.setPosition(fragment.position())
    cursor.setPosition(fragment.position() + fragment.length(), QTextCursor.MoveMode.KeepAnchor)
    cursor.setCharFormat(new)


def _rule(table: QTextTable, theme: Theme) -> None:
    """Lines of one pixel, and room in the cells."""
    format = table.format()
    format.setBorder(1)
    format.setBorderCollapse(True)
    format.setBorderBrush(mix(theme.panel, theme.line, 0.9))
    format.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
    format.setCellPadding(5)
    format.setTopMargin(2)
    format.setBottomMargin(GRID)
    format.setCellSpacing(0)
    format.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
    table.setFormat(format)
