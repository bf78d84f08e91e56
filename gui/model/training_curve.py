"""One curve of a training: what it is of, and its points."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from gradstep.core.debug.breaks.expression_names import (
    names_a_tensor,
    rename_operations,
    rename_tensor,
)
from gradstep.core.debug.breaks.layer_curves import Family
from gradstep.gui.look.theme import Tone
from gradstep.gui.model.curve_points import Points
from gradstep.gui.model.sampled_points import SampledPoints

_HELD = "validation "  # no expression begins so


@dataclass(eq=False)
class Curve:
    """text: the expression; title: its name in the panel; op: where it is on the canvas; tone: the
    colour; family: what it is of layers; tag: what event files call it, of one that they alone
    have; problem: why it cannot be followed now, "" where it can; points: of the runs that are
    shown."""

    text: str
    title: str
    op: str = ""
    tone: Tone = "forward"
    family: Family = "value"
    tag: str = ""
    problem: str = ""
    points: Points | SampledPoints = field(init=False)

    def __post_init__(self) -> None:
        self.forget()

    @property
    def validates(self) -> str:
        """The tensor whose mean it is over the rows that are held back; "" for any other."""
        return held_name(self.text)

    @property
    def is_close(self) -> bool:
        """Whether it is looked at in some steps only, because that takes its time."""
        if self.validates:
            return False
        return not (names_a_tensor(self.text) and self.text.lstrip().startswith("x"))

    def forget(self) -> None:
        """Nothing is known of it in this training."""
        self.points = SampledPoints() if self.is_close else Points()

    def renamed(self, name_of: Callable[[str], str]) -> Curve:
        """It, or the same with operation names put through `name_of`, which has its points."""
        text, op = renamed_text(self.text, name_of), self.op and name_of(self.op)
        if (text, op) == (self.text, self.op):
            return self
        title = renamed_title(self.title, self.text, self.op, name_of)
        new = replace(self, text=text, title=title, op=op)
        new.points = self.points
        return new


def renamed_text(text: str, name_of: Callable[[str], str]) -> str:
    """The expression of a curve with operation names put through `name_of`."""
    held = held_name(text)
    return held_text(rename_tensor(held, name_of)) if held else rename_operations(text, name_of)


def renamed_title(title: str, text: str, op: str, name_of: Callable[[str], str]) -> str:
    """What it is called then: the expression itself, or words that name the operation."""
    if title == text:
        return rename_operations(text, name_of)
    if not op or name_of(op) == op:
        return title
    new = name_of(op)
    return re.sub(rf"(?<![\w./-]){re.escape(op)}(?![\w./-])", lambda _: new, title)


def held_text(ref: str) -> str:
    """What stands for an expression where a curve is the mean of a tensor over the rows that are
    held back."""
    return f"{_HELD}{ref}"


def held_name(text: str) -> str:
    """The tensor of which such a curve is the mean; "" for any other."""
    return text.removeprefix(_HELD) if text.startswith(_HELD) else ""
