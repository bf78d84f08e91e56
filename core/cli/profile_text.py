"""What `gradstep profile` prints: operations by time, totals, and what passes did."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from core.cli.output import table
from core.host.messages import PassInfo, Profiled, ProfileRow

_LONGEST = 30  # operations in the table; --json has all


@dataclass(frozen=True)
class Total:
    """The sum over the rows of one phase or scope; of scopes, what is inside them included."""

    name: str
    seconds: float
    bytes_made: int
    calls: int


def totals(
    rows: Sequence[ProfileRow], groups: Callable[[ProfileRow], Iterable[str]]
) -> list[Total]:
    """The total of each group, by time. groups: those that a row is in."""
    members: dict[str, list[ProfileRow]] = {}
    for row in rows:
        for name in groups(row):
            members.setdefault(name, []).append(row)
    found = [
        Total(
            name,
            sum(row.seconds for row in inside),
            sum(row.bytes_made for row in inside),
            sum(row.calls for row in inside),
        )
        for name, inside in members.items()
    ]
    return sorted(found, key=lambda total: -total.seconds)


def text(found: Profiled, phases: Sequence[Total], scopes: Sequence[Total]) -> str:
    """Everything, with empty lines between the tables."""
    whole = sum(row.seconds for row in found.rows)
    ran = f"{found.mode} on {found.device}, {found.runs} {'run' if found.runs == 1 else 'runs'}"
    parts = [
        f"{ran}: {_time(found.seconds)} each, {_time(whole)} of it in operations",
        found.text,
        _operations(found.rows, whole),
        _kernels(found.rows),
        _totals("phase", phases, whole),
        _totals("scope", scopes[:_LONGEST], whole),
        _passes([made for made in found.passes if made.on or found.mode == "fast"]),
    ]
    return "\n\n".join(filter(None, parts))


def _operations(rows: Sequence[ProfileRow], whole: float) -> str:
    busy = sorted((row for row in rows if row.calls), key=lambda row: -row.seconds)
    header = ["operation", "type", "phase", "time", "share", "made", "read", "calls", "kernel"]
    cells = [_operation(row, whole) for row in busy[:_LONGEST]]
    if not any(row.kernel for row in busy[:_LONGEST]):
        header, *cells = ([*line[:8], *line[9:]] for line in (header, *cells))
    more = [f"and {len(busy) - _LONGEST} more"] if len(busy) > _LONGEST else []
    if len(busy) < len(rows):
        more.append(f"{len(rows) - len(busy)} have nothing to do in a run")
    return "\n".join(filter(None, [table(cells, header), "; ".join(more)]))


def _kernels(rows: Sequence[ProfileRow]) -> str:
    """How kernels in the reference's place may differ from it."""
    found = dict.fromkeys((row.kernel, row.type, row.differs) for row in rows if row.differs)
    return "\n".join(f"{kernel}'s {kind}: {differs}" for kernel, kind, differs in found)


def _operation(row: ProfileRow, whole: float) -> list[str]:
    also = f"also {', '.join(row.also[:3])}" if row.also else ""
    more = f" and {len(row.also) - 3} more" if len(row.also) > 3 else ""
    numbers = [_time(row.seconds), _share(row.seconds, whole)]
    sizes = [_size(row.bytes_made), _size(row.bytes_read), str(row.calls)]
    return [row.op, row.type, row.phase, *numbers, *sizes, row.kernel, also + more]


def _totals(kind: str, found: Sequence[Total], whole: float) -> str:
    rows = [
        [t.name, _time(t.seconds), _share(t.seconds, whole), _size(t.bytes_made), str(t.calls)]
        for t in found
    ]
    return table(rows, [kind, "time", "share", "made", "calls"]) if rows else ""


def _passes(passes: Sequence[PassInfo]) -> str:
    rows = [_pass(made) for made in passes]
    return table(rows, ["pass", "steps before", "after", "operations", "bits"]) if rows else ""


def _pass(made: PassInfo) -> list[str]:
    if not made.on:
        return [made.name, "left out"]
    bits = "the same" if made.same_bits else made.differs
    counts = (made.steps_before, made.steps_after, made.gone_count)
    return [made.name, *map(str, counts), bits]


def _share(seconds: float, whole: float) -> str:
    return f"{seconds / whole:.1%}" if whole else ""


def _time(seconds: float) -> str:
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds * 1e9:.0f} ns"


def _size(count: int) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return f"{count} B"
