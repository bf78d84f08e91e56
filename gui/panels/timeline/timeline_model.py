"""The table of steps: number, phase, operation, what happened, and the value it gave."""

from __future__ import annotations

from collections.abc import Callable

from gradstep.core.graph.model import TensorRef
from gradstep.gui.look.theme import Tone, phase_tone
from gradstep.gui.model import number_text, variable_change
from gradstep.gui.model.live_output import output_name
from gradstep.gui.model.value_cache import TensorValue
from gradstep.gui.panels.timeline.timeline_rows import Rows, StepRow, StepRows
from gradstep.gui.panels.widgets.table_cells import Cell, CellModel, Fill

NUMBER, PHASE, OPERATION, TEXT, VALUE = range(5)
_ROOM = 28  # characters of one value


class TimelineModel(CellModel):
    """Rows as of `step`; values, and the words of a step, are asked for only where they are looked
    at."""

    headers = ("#", "phase", "op", "what happened", "value")

    def __init__(
        self, value: Callable[[str], TensorValue | None], words: Callable[[str], str]
    ) -> None:
        """words: what the step of an operation does; "" while nobody knows."""
        super().__init__()
        self._value, self._words = value, words
        self.rows: Rows = StepRows(())
        self.step = 0
        self.current = 0  # number of the row that runs next
        self._last = -1  # and of the one that ran last
        self.error = ""  # why it failed, or waits, if it does
        self.waits = False

    def show(self, rows: Rows) -> None:
        is_other = len(rows) != len(self.rows)
        if is_other:
            self.beginResetModel()
        self.rows = rows
        self._find_current()
        if is_other:
            self.endResetModel()
        else:  # most edits change a few of many rows
            self.changed()

    def move_to(self, step: int, error: str = "", waits: bool = False) -> None:
        """The debugger has executed `step` steps; `error`: why the next one failed, or waits."""
        self.step, self.error, self.waits = step, error, waits
        self._find_current()
        self.changed()

    def _find_current(self) -> None:
        self.current, self._last = self.rows.at(self.step), self.rows.at(self.step - 1)

    def count(self) -> int:
        return len(self.rows)

    def cell(self, row: int, column: int) -> Cell:
        item, here = self.rows[row], row == self.current
        future, fresh = row > self.current, row == self._last != self.current
        fill: Fill = "current_row" if here else ""
        tone: Tone = "muted" if future else "text"
        if column == NUMBER:
            return Cell(str(item.start + 1), tone, code=True, strong=here, fill=fill)
        if column == PHASE:
            return Cell(item.phase, "muted" if future else phase_tone(item.phase), fill=fill)
        if column == OPERATION:
            return Cell(item.name, tone, code=True, fill=fill)
        if column == TEXT:
            if here and self.error:
                tone = "backward" if self.waits else "problem"
            return Cell(self._text(item, here), tone, fill=fill)
        text, tone = self._result(item, here, future)
        return Cell(text, tone, code=True, strong=fresh, fill=fill)

    def _text(self, item: StepRow, here: bool) -> str:
        if not here:
            changed = self._change(item) if item.start < self.step else ""
            return f"{self._told(item)}   {changed}" if changed else self._told(item)
        if self.error:
            return f"{'waits' if self.waits else 'failed'}: {self.error}"
        if item.start < self.step:
            done = f"{self.step - item.start} of {item.stop - item.start} done"
            return f"inside, {done}: {self._told(item)}"
        return (
            f"about to run {item.custom}(op, grad)" if item.custom else f"next: {self._told(item)}"
        )

    def _told(self, item: StepRow) -> str:
        """What its steps do, as far as that is known by now."""
        return ",  ".join(dict.fromkeys(filter(None, map(self._words, item.told))))

    def _result(self, item: StepRow, here: bool, future: bool) -> tuple[str, Tone]:
        """Text and tone of the value column."""
        if future or (here and not item.custom):
            return "–", "faint"
        if here:
            return self._arriving(item)
        values = [(ref, v) for ref in item.refs if (v := self._value(ref)) is not None]
        known = [(ref, v) for ref, v in values if v.state == "known"]
        is_dead = any(v.state == "dead" for _, v in values)
        if is_dead and not known:
            return "dead", "muted"
        texts = [_brief(v) for _, v in known]
        if is_dead and item.phase == "forward":  # which of the outputs are alive
            names = [output_name(item.type, TensorRef.parse(ref).index) for ref, _ in known]
            texts = [f"{name}: {text}" for name, text in zip(names, texts, strict=True)]
        wrong = any(number_text.is_wrong(v) for _, v in known)
        return ", ".join(texts) or "–", "problem" if wrong else phase_tone(item.phase)

    def _change(self, item: StepRow) -> str:
        """What the update in these steps changed; nothing where a later one has overwritten it."""
        found = self._value(item.refs[0]) if item.refs else None
        if found is None or found.update is None or not item.holds(found.update.step):
            return ""
        changed = variable_change.of(found)
        if changed is None:
            return ""
        before = variable_change.inline(changed.before, found, _ROOM)
        delta = variable_change.inline(changed.delta, found, _ROOM)
        return f"was {before}, Δ {delta}" if before and delta else changed.size

    def _arriving(self, item: StepRow) -> tuple[str, Tone]:
        """The gradient that a custom function is about to be called with."""
        value = self.gradient(f"{item.node}:0")
        if value is None or value.state != "known":
            return "–", "faint"
        return f"grad = {_brief(value)}", "backward"

    gradient: Callable[[str], TensorValue | None] = staticmethod(lambda ref: None)


def _brief(value: TensorValue) -> str:
    """`[0.060 -0.040]`: several of them share a cell, so that nothing is padded."""
    text = " ".join(variable_change.brief(value, _ROOM).split())
    return text.replace("[ ", "[").replace(" ]", "]")
