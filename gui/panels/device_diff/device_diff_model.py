"""The table of a device comparison: a row a node, a column a device, and who made the error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gradstep.core.protocol.messages import ComparedNode, Comparison, SideResult
from gradstep.core.protocol.vocabulary import ComparedVerdict, PhaseName
from gradstep.gui.look.device_text import device_label
from gradstep.gui.look.theme import Tone
from gradstep.gui.panels.widgets.table_cells import Cell, CellModel, Fill

_WORST: Sequence[ComparedVerdict] = (
    "raises",
    "differs",
    "unavailable",
    "close",
    "equal",
    "dead",
)  # most telling first
_SIGNS: Mapping[ComparedVerdict, str] = {
    "raises": "×", "differs": "≠", "unavailable": "–", "close": "≈", "equal": "=", "dead": "·"
}  # fmt: skip
_TONES: Mapping[ComparedVerdict, Tone] = {
    "raises": "problem", "differs": "problem", "unavailable": "faint", "close": "text",
    "dead": "faint",
}  # fmt: skip
_ROOM = 8  # elements written out
_SAME = ("equal", "dead")
_MEASURES = ("Δ", "ULP p99", "created", "inherited", "budget")
_KEYS = ("max_abs", "ulp_p99", "created", "inherited", "share")


@dataclass
class DiffRow:
    """One node, with what each comparison says of it (by the right device's name)."""

    name: str
    type: str
    phase: PhaseName
    sides: dict[str, ComparedNode] = field(default_factory=dict)

    @property
    def verdict(self) -> ComparedVerdict:
        """The most telling verdict of all comparisons."""
        return min((node.verdict for node in self.sides.values()), key=_WORST.index)

    @property
    def tone(self) -> Tone:
        """Of its verdict; one that fails on all devices alike is nothing to worry about."""
        alike = self.verdict == "raises" and not any(n.differs for n in self.sides.values())
        return "faint" if alike else _TONES.get(self.verdict, "muted")

    @property
    def left(self) -> SideResult:
        return next(iter(self.sides.values())).left

    @property
    def worst(self) -> tuple[str, ComparedNode]:
        """The device on which it differs most, and what is said of it there."""
        return min(self.sides.items(), key=lambda pair: _WORST.index(pair[1].verdict))

    def largest(self, what: str) -> float | None:
        """The largest error `created` or `inherited`, or measure, on any device."""
        found = [getattr(n, what, n.metrics.get(what)) for n in self.sides.values()]
        return max((x for x in found if x is not None), default=None)


@dataclass
class Fold:
    """Nodes in a row that are the same on all devices."""

    rows: list[DiffRow] = field(default_factory=list)

    @property
    def open(self) -> int:
        """How many of them are emulated in part."""
        return sum(any(n.unknown for n in row.sides.values()) for row in self.rows)


def diff_rows(comparisons: Sequence[Comparison]) -> list[DiffRow]:
    """The nodes of all comparisons, in the order in which they run."""
    rows: dict[str, DiffRow] = {}
    for comparison in comparisons:
        for node in comparison.nodes:
            row = rows.setdefault(node.name, DiffRow(node.name, node.type, node.phase))
            row.sides[device_of(comparison)] = node
    return list(rows.values())


def folded(rows: Sequence[DiffRow]) -> list[DiffRow | Fold]:
    """The rows, with those that are the same in a row as one."""
    found: list[DiffRow | Fold] = []
    for row in rows:
        if row.verdict not in _SAME:
            found.append(row)
            continue
        if not found or isinstance(found[-1], DiffRow):
            found.append(Fold())
        last = found[-1]
        if isinstance(last, Fold):
            last.rows.append(row)
    return found


class DiffModel(CellModel):
    """Columns: verdict, node, type, the left device, the others, and the measures of the device
    that differs most: Δ, ULP, created, inherited, budget, rule; phase.

    every: whether nodes that are the same have rows, too."""

    _FIXED = 4  # columns before the compared devices

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[DiffRow | Fold] = []
        self.every = False
        self._all: list[DiffRow] = []
        self._right: Sequence[str] = ()
        self._measured: Mapping[str, bool] = {}
        self._first: frozenset[str | None] = frozenset()

    def show(self, comparisons: Sequence[Comparison]) -> None:
        self.beginResetModel()
        self._all = diff_rows(comparisons)
        self._fill()
        self._right = [*map(device_of, comparisons)]
        self._measured = {device_of(c): c.measured for c in comparisons}
        self._first = frozenset(c.first_divergence for c in comparisons)
        left = comparisons[0].left if comparisons else "cpu"
        titles = [device_title(c) for c in comparisons]
        fixed = ("", "node", "type", device_label(left))
        self.headers = (*fixed, *titles, *_MEASURES, "rule", "phase")
        self.endResetModel()

    def unfold(self, every: bool) -> None:
        """Give nodes that are the same rows of their own, or not."""
        self.beginResetModel()
        self.every = every
        self._fill()
        self.endResetModel()

    def _fill(self) -> None:
        self.rows = [*self._all] if self.every else folded(self._all)

    @property
    def same(self) -> int:
        """How many nodes are the same everywhere."""
        return sum(row.verdict in _SAME for row in self._all)

    def count(self) -> int:
        return len(self.rows)

    def row_of(self, name: str) -> int:
        """The row of a node, or of those that it is folded with; -1 for none."""
        for number, item in enumerate(self.rows):
            inside = item.rows if isinstance(item, Fold) else [item]
            if any(row.name == name for row in inside):
                return number
        return -1

    def cell(self, row: int, column: int) -> Cell:
        item = self.rows[row]
        if isinstance(item, Fold):
            return _fold_cell(item, column)
        last = self._FIXED + len(self._right)
        if column >= last:
            return _measure(item, column - last)
        if column >= self._FIXED:
            device = self._right[column - self._FIXED]
            return self._side(item, item.sides.get(device), device)
        return self._fixed(item, column)

    def _fixed(self, item: DiffRow, column: int) -> Cell:
        first = item.name in self._first
        if column == 0:
            return Cell(_SIGNS[item.verdict], item.tone, strong=True, tip=item.verdict)
        if column == 1:
            tip = f"{item.name}: the first node that differs" if first else item.name
            name = f"{item.name}  ◂ first" if first else item.name
            return Cell(name, "problem" if first else "text", strong=first, name=True, tip=tip)
        if column == 2:
            which = item.worst[1].iteration
            short = f"{item.type} ↻{which.removeprefix('iteration ')}" if which else item.type
            return Cell(short, "muted", tip=f"{item.type}, {which}" if which else item.type)
        return _result(item.left, None, failure=item.tone)

    def _side(self, item: DiffRow, node: ComparedNode | None, device: str) -> Cell:
        fill: Fill = "" if self._measured[device] else "hatched"
        if node is None:
            return Cell("–", "faint", fill=fill)
        failure: Tone = "problem" if node.differs else "faint"
        return _result(node.right, item.left, failure, fill, node.rule or node.unknown)


def device_of(comparison: Comparison) -> str:
    """What was compared with, as it was asked for: a device, or a recording's file."""
    return comparison.device or comparison.right


def device_title(comparison: Comparison) -> str:
    """A column's header: emulated results say so, measured ones name their device."""
    label = device_label(comparison.right)
    if comparison.measured:
        return f"{label} · {comparison.source}" if comparison.source else label
    return f"{label} · emulated"


def _result(
    side: SideResult, reference: SideResult | None, failure: Tone, fill: Fill = "", rule: str = ""
) -> Cell:
    """rule: what explains a difference, or what is not known. failure: the tone of one."""
    if side.status == "unavailable":
        return Cell("–", "faint", fill=fill, tip=side.text or "an input is not available")
    if side.status == "dead":
        return Cell("dead", "faint", fill=fill, tip=side.text)
    if side.status == "raised":
        return Cell(side.text, failure, fill=fill, tip=side.text)
    differs = reference is not None and _offending(side, reference)
    text = _marked(side, differs or ())
    tip = "\n".join(filter(None, [text, rule, side.text]))
    return Cell(text, "problem" if differs else "text", code=True, fill=fill, tip=tip)


def _offending(side: SideResult, reference: SideResult) -> tuple[int, ...]:
    """Numbers of the elements that are not the reference's, beyond rounding."""
    if reference.status != "ok" or len(side.values) != len(reference.values):
        return ()
    pairs = zip(side.values, reference.values, strict=True)
    return tuple(i for i, (a, b) in enumerate(pairs) if not _same(a, b))


def _same(a: object, b: object) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        return a == b
    return bool(np.isclose(float(a), float(b), rtol=1e-5, atol=1e-7))  # type: ignore[arg-type]


def _marked(side: SideResult, offending: Sequence[int]) -> str:
    """The values, `‹` and `›` around those that differ."""
    texts = [_number(v) for v in side.values[:_ROOM]]
    marked = [f"‹{text}›" if i in offending else text for i, text in enumerate(texts)]
    if not side.shape:
        return marked[0] if marked else ""
    more = " …" if int(np.prod(side.shape)) > len(marked) else ""
    return f"[{' '.join(marked)}{more}]"


def _number(value: float | int | bool | str) -> str:
    if isinstance(value, str):
        return {"Infinity": "Inf", "-Infinity": "-Inf"}.get(value, value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _fold_cell(item: Fold, column: int) -> Cell:
    count = len(item.rows)
    if column == 0:
        return Cell("=", "faint", tip="the same on all devices")
    if column == 1:
        tip = ", ".join(row.name for row in item.rows[:20]) + (", …" if count > 20 else "")
        return Cell(f"{count} equal", "faint", tip=tip)
    if column == 2 and item.open:
        return Cell(f"{item.open} in part", "faint", tip="what is emulated of them is not all")
    return Cell()


def _measure(item: DiffRow, number: int) -> Cell:
    """Of the columns after the devices."""
    if number < len(_KEYS):
        value = item.largest(_KEYS[number])
        return _share(value) if _KEYS[number] == "share" else _error(value, _KEYS[number])
    node = item.worst[1]
    if number == len(_KEYS):
        text = node.because or node.unknown
        tone: Tone = "text" if node.because else "faint"
        return Cell(text, tone, tip="\n".join(filter(None, (node.rule, node.unknown))))
    return Cell(item.phase, item.phase)


def _share(value: float | None) -> Cell:
    """Of what its arithmetic may round."""
    if value is None:
        return Cell("–", "faint", code=True)
    text = f"{100 * value:.0f} %" if value < 10 else f"{value:.0f}×"
    tone: Tone = "problem" if value > 1 else "text" if value else "faint"
    return Cell(text, tone, code=True, tip="of what its arithmetic may round")


def _error(value: float | None, key: str = "") -> Cell:
    if value is None:
        return Cell("–", "faint", code=True)
    text = f"{value:,.0f}" if key == "ulp_p99" and value < 1e6 else f"{value:.1e}"
    return Cell("0" if value == 0 else text, "text" if value else "faint", code=True)
