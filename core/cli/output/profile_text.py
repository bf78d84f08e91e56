"""What `gradstep profile` prints: operations by time, totals, and what passes did."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gradstep.core.cli.output.command_output import table
from gradstep.core.protocol.messages import PassInfo, Profiled, ProfileRow

_LONGEST = 30  # operations in the table; --json has all
_INSIDE = 10  # of a loop
_COLUMNS = (
    "operation",
    "type",
    "phase",
    "time",
    "share",
    "of loop",
    "made",
    "read",
    "calls",
    "kernel",
)
_RARE = ("of loop", "kernel")  # columns that are left out where they would be empty


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
    """The total of each group, by time. groups: those that a row is in; of a loop, those that what
    is inside is in."""
    members: dict[str, list[ProfileRow]] = {}
    for row in _apart(rows):
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
        pass_table([made for made in found.passes if made.on or found.mode == "fast"]),
    ]
    return "\n\n".join(filter(None, parts))


def _apart(rows: Sequence[ProfileRow]) -> Iterator[ProfileRow]:
    """The rows, in a loop's place those inside, and what it takes besides."""
    for row in rows:
        if row.inside:
            yield from _apart(row.inside)
            yield row.between
        else:
            yield row


def _operations(rows: Sequence[ProfileRow], whole: float) -> str:
    busy = _busy(rows)
    lines = [line for row in busy[:_LONGEST] for line in _lines(row, whole)]
    header = [c for c in _COLUMNS if c not in _RARE or any(line.get(c) for line in lines)]
    cells = [[line.get(column, "") for column in (*header, "")] for line in lines]
    more = [f"and {len(busy) - _LONGEST} more"] if len(busy) > _LONGEST else []
    if len(busy) < len(rows):
        more.append(f"{len(rows) - len(busy)} have nothing to do in a run")
    return "\n".join(filter(None, [table(cells, header) if cells else "", "; ".join(more)]))


def _kernels(rows: Sequence[ProfileRow]) -> str:
    """How kernels in the reference's place may differ from it."""
    found = dict.fromkeys((row.kernel, row.type, row.differs) for row in rows if row.differs)
    return "\n".join(f"{kernel}'s {kind}: {differs}" for kernel, kind, differs in found)


def _busy(rows: Sequence[ProfileRow]) -> list[ProfileRow]:
    return sorted((row for row in rows if row.calls), key=lambda row: -row.seconds)


def _lines(
    row: ProfileRow, whole: float, loops: tuple[ProfileRow, ...] = ()
) -> Iterator[Mapping[str, str]]:
    """By column, the line of a row inside of `loops`; of a loop, those of what is inside, too."""
    yield {
        **_amounts(row.op, row.seconds, whole, loops),
        "type": row.type,
        "phase": row.phase,
        "made": byte_text(row.bytes_made),
        "read": byte_text(row.bytes_read),
        "calls": str(row.calls),
        "kernel": row.kernel,
        "": _besides(row),
    }
    if row.inside:
        loops, busy = (*loops, row), _busy(row.inside)
        for each in busy[:_INSIDE]:
            yield from _lines(each, whole, loops)
        left = busy[_INSIDE:]
        if left:
            seconds = sum(each.seconds for each in left)
            yield _amounts(f"{len(left)} more", seconds, whole, loops)
        yield _amounts("from one iteration to the next", row.between.seconds, whole, loops)


def _amounts(
    name: str, seconds: float, whole: float, loops: Sequence[ProfileRow]
) -> dict[str, str]:
    return {
        "operation": "  " * len(loops) + name,
        "time": _time(seconds),
        "share": _share(seconds, whole),
        "of loop": _share(seconds, loops[-1].seconds) if loops else "",
    }


def _besides(row: ProfileRow) -> str:
    if row.inside:
        return f"{row.iterations} {'iteration' if row.iterations == 1 else 'iterations'}"
    also = f"also {', '.join(row.also[:3])}" if row.also else ""
    return also + (f" and {len(row.also) - 3} more" if len(row.also) > 3 else "")


def _totals(kind: str, found: Sequence[Total], whole: float) -> str:
    rows = [
        [t.name, _time(t.seconds), _share(t.seconds, whole), byte_text(t.bytes_made), str(t.calls)]
        for t in found
    ]
    return table(rows, [kind, "time", "share", "made", "calls"]) if rows else ""


def pass_table(passes: Sequence[PassInfo]) -> str:
    """A line for each pass: steps before and after, operations it took up, and the bits."""
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


def byte_text(count: int) -> str:
    """A number of bytes in three digits and a unit."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return f"{count} B"
