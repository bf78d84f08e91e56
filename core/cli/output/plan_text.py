"""What `gradstep plan` prints: the steps, where values lie and how long, and what passes did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gradstep.core.cli.output.command_output import table
from gradstep.core.cli.output.plan_report import MemoryReport, PlanReport, StepReport, ValueReport
from gradstep.core.cli.output.profile_text import byte_text, pass_table
from gradstep.core.protocol.messages import PassInfo

_STEPS, _VALUES, _CHANGES, _SLOTS = 60, 40, 8, 6  # of a table, a pass, a cell
_WIDEST = 44  # characters of a name
_STEP_COLUMNS = ["step", "operation", "type", "phase", "reads", "makes", ""]
_VALUE_COLUMNS = ["slot", "value", "type", "bytes", "place", "steps"]


@dataclass(frozen=True)
class PlanText:
    """How to say it. whole: every row, and names as long as they are."""

    whole: bool = False

    def write(self, report: PlanReport, title: str, passes: Sequence[PassInfo]) -> str:
        """Everything, with empty lines between the tables."""
        parts = [
            f"{title}: {_summary(report)}",
            self._steps(report.steps),
            self._values(report.values, len(report.steps)),
            pass_table(passes),
            "\n".join(filter(None, map(self._changes, passes))),
        ]
        return "\n\n".join(filter(None, parts))

    def _steps(self, steps: Sequence[StepReport]) -> str:
        rows = [*self._rows(steps)]
        if not rows:
            return "there is nothing to run"
        return self._cut_table(rows, _STEP_COLUMNS, _STEPS, "steps")

    def _rows(self, steps: Iterable[StepReport], depth: int = 0) -> Iterator[list[str]]:
        """A row for each step; below that of a loop those of an iteration, whose slots are its
        own."""
        for step in steps:
            indent = "  " * depth
            yield [
                f"{indent}{step.step}",
                indent + self._name(step.op),
                step.type,
                step.phase,
                self._slots(step.reads),
                self._slots(step.writes),
                "; ".join(self._remarks(step)),
            ]
            if step.body is not None:
                yield from self._rows(step.body.steps, depth + 1)

    def _remarks(self, step: StepReport) -> Iterator[str]:
        if step.fails:
            yield f"fails: {step.fails}"
        if step.work == "once":
            yield "before the first run"
        if step.conditional:
            yield "in some runs"
        if step.block is not None:
            yield f"block {step.block}"
        if step.device:
            yield f"on {step.device}"
        if step.kernel:
            yield f"by {step.kernel}"
        if step.times > 1:
            yield f"{step.times} at once"
        if step.also:
            yield f"also {self._some(step.also, 3)}"
        if step.body is not None:
            yield _loop(step.body.memory, len(step.body.steps), step.body.split)

    def _values(self, values: Sequence[ValueReport], steps: int) -> str:
        """The values by slot; where they are too many, the largest."""
        there = [value for value in values if value.place != "none"]
        cut = not self.whole and len(there) > _VALUES
        shown = sorted(there, key=lambda v: -(v.bytes or 0))[:_VALUES] if cut else there
        if not shown:
            return ""
        found = table([self._value(value, steps) for value in shown], _VALUE_COLUMNS)
        more = f"the {_VALUES} largest of {len(there)} values (--all shows every one)"
        return f"{found}\n{more}" if cut else found

    def _value(self, value: ValueReport, steps: int) -> list[str]:
        name = self._name(value.name)
        return [
            f"#{value.slot}",
            f"{name}, version {value.version}" if value.variable else name,
            f"{value.dtype}{_shape(value.shape)}",
            "?" if value.bytes is None else byte_text(value.bytes),
            _place(value),
            _span(value, steps),
        ]

    def _changes(self, made: PassInfo) -> str:
        """What became of the operations that a pass took up."""
        if not made.gone:
            return ""
        fates = Counter(_fate(text) for text in made.gone.values())
        counts = ", ".join(f"{count} {fate}" for fate, count in fates.most_common())
        shown = [*made.gone.items()] if self.whole else [*made.gone.items()][:_CHANGES]
        lines = [f"  {self._name(name)} {self._sentence(text)}" for name, text in shown]
        if len(shown) < len(made.gone):
            lines.append(f"  and {len(made.gone) - len(shown)} more")
        return "\n".join([f"{made.name}: {counts}", *lines])

    def _sentence(self, text: str) -> str:
        """A fate, whose last word may be a name."""
        words, _, name = text.rpartition(" ")
        return f"{words} {self._name(name)}" if words else text

    def _slots(self, slots: Sequence[int]) -> str:
        return self._some([f"#{slot}" for slot in slots], _SLOTS, " ")

    def _some(self, words: Sequence[str], most: int, between: str = ", ") -> str:
        shown = words if self.whole else words[:most]
        names = between.join(map(self._name, shown))
        left = len(words) - len(shown)
        return f"{names} and {left} more" if left else names

    def _name(self, name: str) -> str:
        """`name`, of which the middle is left out where it is long: what tells two apart stands at
        the end."""
        if self.whole or len(name) <= _WIDEST:
            return name
        return f"{name[: _WIDEST // 3]}…{name[-(_WIDEST - _WIDEST // 3 - 1) :]}"

    def _cut_table(
        self, rows: Sequence[list[str]], header: Sequence[str], most: int, what: str
    ) -> str:
        if self.whole or len(rows) <= most:
            return table(rows, header)
        more = f"and {len(rows) - most} more {what} (--all shows every one)"
        return f"{table(rows[:most], header)}\n{more}"


def _summary(report: PlanReport) -> str:
    """How much there is of everything, in a line or few."""
    memory, steps = report.memory, report.steps
    there = sum(value.place != "none" for value in report.values)
    lines = [f"{_count(len(steps), 'step')}, {_count(there, 'value')}"]
    arena = f"arena: {byte_text(memory.arena_bytes)}"
    if memory.peak_step is not None:
        at = f"step {memory.peak_step} ({steps[memory.peak_step].op})"
        arena += f", of which at most {byte_text(memory.peak_bytes)} are needed at once, at {at}"
    outside = {
        "constants": memory.constant_bytes,
        "feeds": memory.fed_bytes,
        "variables": memory.variable_bytes,
    }
    said = [f"{name} {byte_text(size)}" for name, size in outside.items() if size]
    if memory.by_reference:
        said.append(f"{_count(memory.by_reference, 'value')} of a size known only in a run")
    return "\n".join([*lines, arena, *([f"outside of it: {', '.join(said)}"] if said else [])])


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _loop(memory: MemoryReport, steps: int, split: int) -> str:
    arena = byte_text(memory.arena_bytes)
    return f"each iteration {_count(steps, 'step')}, the condition first ({split}), in {arena}"


def _shape(dims: Sequence[int] | None) -> str:
    return (
        ", any shape" if dims is None else f"[{', '.join('?' if n < 0 else str(n) for n in dims)}]"
    )


def _place(value: ValueReport) -> str:
    if value.place == "arena":
        return f"arena + {value.offset}"
    if value.place == "part":
        return f"inside #{value.within}"
    return _PLACES.get(value.place, value.place)


_PLACES: Mapping[str, str] = {
    "variable": "the variable's own",
    "reference": "made in each run",
}


def _span(value: ValueReport, steps: int) -> str:
    """The steps from which to which it is needed."""
    first = "start" if value.first < 0 else str(value.first)
    last = "end" if value.last >= steps else "start" if value.last < 0 else str(value.last)
    return first if first == last else f"{first} to {last}"


def _fate(text: str) -> str:
    """What operations became whose fate is `text`, without the name that it ends in."""
    for words, group in _FATES.items():
        if text.startswith(words):
            return group
    return "of another type now"


_FATES: Mapping[str, str] = {
    "is part of": "part of others",
    "is the same as": "the same as others",
    "nobody looks at it": "that nobody looks at",
    "is a constant now": "constants now",
    "runs block by block": "that run block by block",
}
