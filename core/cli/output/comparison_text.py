"""A comparison of two devices as text: what comes of it in sentences, then the table, then rules.

Nodes that are the same on both are folded: they are counted, and `every` names them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradstep.core.cli.output.command_output import table
from gradstep.core.errors import GradstepError
from gradstep.core.protocol.messages import ComparedNode, Comparison, NodeDifference, SideResult

_NAME, _SIDE, _ELEMENTS = 44, 42, 4  # places of a name and of a result; elements of it
_FOLDED = ("equal", "dead")
_BARS = 30


def comparison_text(found: Comparison, every: bool = False) -> str:
    """every: with a row for each node, and names in full."""
    said = found.sentences or [found.text]
    kind = "measured" if found.measured else "emulated"
    lines = [f"{found.right} against {found.left}: {found.brief}"]
    lines += [f"  {sentence}" for sentence in said]
    notes: dict[str, int] = {}
    rows = [*_rows(found.nodes, every, notes)]
    if all(node.verdict in _FOLDED for node in found.nodes) and not every:
        lines += ["", f"{len(found.nodes)} nodes are equal; --all shows them"]
    else:
        lines += ["", table(rows, [*_HEAD[:3], found.left, found.right, *_HEAD[3:]])]
        lines += [f"[{number}] {rule}" for rule, number in notes.items()]
    if found.source or not found.measured:  # of moments there is nothing to say
        lines += ["", f"{found.right} is {_how(kind, found.source)}"]
    lines += found.hazards
    return "\n".join(lines)


def _how(kind: str, source: str) -> str:
    """A source of what was measured mostly says that itself."""
    return source if source.startswith(kind) else ": ".join(filter(None, (kind, source)))


def detail_text(found: Comparison, name: str) -> str:
    """Of one node: its measures, the elements that differ most, how far they are apart, and where
    NaN and infinities are. Raises GradstepError where there is no such node."""
    row = next((row for row in found.nodes if row.name == name), None)
    if row is None:
        raise GradstepError(
            f"there is no node '{name}' in the comparison",
            kind="NotFoundError",
            hint="a name of the table's first column; --all shows all of them",
        )
    lines = [f"{row.name} ({row.type}) on {found.left} and {found.right}: {row.verdict}"]
    lines += [f"  {found.left}: {_side(row.left)}", f"  {found.right}: {_side(row.right)}"]
    lines += [f"  {text}" for text in (row.rule, row.unknown) if text]
    measures = ", ".join(f"{key} {value:.4g}" for key, value in row.metrics.items())
    lines += [f"  {measures}"] if measures else []
    if row.detail is not None:
        lines += _detail(row.detail, found)
    return "\n".join(lines)


_HEAD = ("node", "type", "verdict", "Δ", "ULP p99", "created", "inherited", "budget", "rule")


def _rows(nodes: Sequence[ComparedNode], every: bool, notes: dict[str, int]) -> Iterator[list[str]]:
    """notes: rules that were named so far, and their numbers."""
    folded: list[ComparedNode] = []
    for node in nodes:
        if node.verdict in _FOLDED and not every:
            folded.append(node)
            continue
        yield from _fold(folded)
        folded = []
        yield _row(node, every, notes)
    yield from _fold(folded)


def _fold(nodes: Sequence[ComparedNode]) -> Iterator[list[str]]:
    if not nodes:
        return
    open_ = sum(bool(node.unknown) for node in nodes)
    yield [f"… {len(nodes)} equal", "", "=", *[""] * 7, f"{open_} emulated in part" * bool(open_)]


def _row(node: ComparedNode, every: bool, notes: dict[str, int]) -> list[str]:
    metrics = node.metrics
    share = metrics.get("share")
    return [
        node.name if every else _short(node.name, _NAME),
        f"{node.type}, {node.iteration}" if node.iteration else node.type,
        node.verdict,
        _cut(_side(node.left)),
        _cut(_side(node.right)),
        _number(metrics.get("max_abs")),
        f"{metrics['ulp_p99']:.0f}" if "ulp_p99" in metrics else "",
        _number(node.created),
        _number(node.inherited),
        "" if not share else f"{100 * share:.0f} %" if share < 10 else f"{share:.0f}×",
        _noted(node.rule, notes) or node.unknown,
    ]


def _noted(rule: str, notes: dict[str, int]) -> str:
    return f"[{notes.setdefault(rule, len(notes) + 1)}]" if rule else ""


def _number(value: float | None) -> str:
    return "" if value is None else "0" if value == 0 else f"{value:.1e}"


def _side(side: SideResult) -> str:
    if side.status == "dead":
        return side.status
    if side.status != "ok":
        return side.text or side.status
    more = ", …" if len(side.values) > _ELEMENTS else ""
    return f"[{', '.join(map(_element, side.values[:_ELEMENTS]))}{more}]"


def _element(value: float | int | bool | str | None) -> str:
    return "" if value is None else f"{value:.5g}" if isinstance(value, float) else str(value)


def _short(text: str, room: int) -> str:
    """Too long a text loses its middle."""
    half = room // 2
    return text if len(text) <= room else f"{text[: half - 1]}…{text[-(room - half) :]}"


def _cut(text: str) -> str:
    """On one line; too long a text loses its end."""
    line, more, _ = text.partition("\n")
    if len(line) > _SIDE:
        return f"{line[: _SIDE - 1]}…"
    return f"{line} …" if more else line


def _detail(detail: NodeDifference, found: Comparison) -> Iterator[str]:
    rows = [
        [str(pair.index), *(_element(x) for x in (pair.left, pair.right, pair.reference))]
        for pair in detail.worst
    ]
    head = ["index", found.left, found.right, "float64"]
    yield f"The elements of output {detail.output} that differ most:"
    yield table([[f"  {row[0]}", *row[1:]] for row in rows], [f"  {head[0]}", *head[1:]])
    if detail.ulps:
        yield "How many elements are how many representable numbers apart (ULP):"
        yield table([*_bars(detail.ulps)])
    lost = (detail.nonfinite_left, detail.nonfinite_right, detail.nonfinite_both)
    if any(lost):
        yield (
            f"NaN or infinite: {lost[0]} on {found.left} only, {lost[1]} on {found.right} only, "
            f"{lost[2]} on both"
        )
        yield from (f"  {line}" for line in _wrapped(detail.mask))


def _bars(counts: Sequence[int]) -> Iterator[list[str]]:
    largest = max(counts)
    for number, count in enumerate(counts):
        if count:
            yield [f"  {ulp_range(number)}", str(count), "█" * -(-_BARS * count // largest)]


def ulp_range(number: int) -> str:
    """The distances that a bar of the histogram counts: "0", "1", "2–3", "4–7"."""
    if number < 2:
        return str(number)
    return f"{1 << (number - 1):,}–{(1 << number) - 1:,}"


def _wrapped(mask: str) -> Iterator[str]:
    yield from (mask[start : start + 64] for start in range(0, len(mask), 64))
