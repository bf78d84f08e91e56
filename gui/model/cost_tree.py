"""What a run costs as a tree: rows of a profile, summed up by scope, phase or type."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from gradstep.core.graph.scopes import parents
from gradstep.core.protocol.messages import ProfileRow

PHASES = ("forward", "backward", "update")
NAMED = 12  # merged operations that a tip names
BETWEEN = "from one iteration to the next"  # what a loop takes besides its operations


class Cost(Struct, frozen=True, eq=False):
    """A row of a profile, or a group of them.

    key:    identity in its tree, by which folds and zooms survive another measurement.
    label:  as short as its place in the tree allows; name: in full.
    phase:  "" for a group of several.
    parts:  of each operation that it stands for, the forward operation it belongs to.
    phases: of a group of several phases, the sum of each.
    """

    key: str
    label: str
    name: str
    type: str = ""
    phase: str = ""
    seconds: float = 0.0
    made: int = 0
    read: int = 0
    calls: int = 0
    kernel: str = ""
    also: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    children: tuple[Cost, ...] = ()
    phases: tuple[Cost, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The forward operations, each once."""
        return tuple(dict.fromkeys(self.parts))

    def amount(self, by: str) -> float:
        """By "time" its seconds, by "bytes" those that it makes."""
        return self.seconds if by == "time" else float(self.made)


class Level(NamedTuple):
    """One group on the way from the whole run to a row. kind: "phase", "scope", "op", "type"."""

    kind: str
    name: str

    @property
    def label(self) -> str:
        return self.name.rpartition("/")[2] if self.kind in ("scope", "op") else self.name


Path = Callable[[Cost], tuple[Level, ...]]


def leaves(rows: Sequence[ProfileRow], origins: Mapping[str, str]) -> tuple[Cost, ...]:
    """A cost for each row. origins: operation -> the forward operation that it belongs to."""
    return _leaves("", rows, origins)


def _leaves(key: str, rows: Sequence[ProfileRow], origins: Mapping[str, str]) -> tuple[Cost, ...]:
    return tuple(
        _leaf(f"{key}row:{number}:{row.op or row.origin}", row, origins)
        for number, row in enumerate(rows)
    )


def _leaf(key: str, row: ProfileRow, origins: Mapping[str, str]) -> Cost:
    operations = [row.op, *row.also] if row.op else row.also
    parts = tuple(origins.get(name, row.origin) for name in operations) or (row.origin,)
    name = _full_name(operations[0] if operations else row.origin, row.phase, parts[0])
    more = f" +{len(operations) - 1}" if len(operations) > 1 else ""
    cost = Cost(
        key,
        name + more,
        name + more,
        row.type,
        row.phase,
        row.seconds,
        row.bytes_made,
        row.bytes_read,
        row.calls,
        row.kernel,
        tuple(operations),
        parts,
    )
    return _opened(cost, row, origins) if row.inside else cost


def _opened(loop: Cost, row: ProfileRow, origins: Mapping[str, str]) -> Cost:
    """A loop above its operations, which need not name its scope again, and what it takes besides
    them."""
    own, scope = row.between, f"{loop.parts[0].rpartition('/')[0]}/"
    inside = _leaves(f"{loop.key}|", row.inside, origins)
    inside = tuple(replace(c, label=c.label.replace(scope, "")) for c in inside)
    between = replace(
        loop,
        key=f"{loop.key}|between",
        label=BETWEEN,
        name=f"{loop.name}, {BETWEEN}",
        type="",
        seconds=own.seconds,
        made=own.bytes_made,
        read=own.bytes_read,
    )
    return replace(loop, children=(*inside, between))


def apart(costs: Sequence[Cost]) -> Iterator[Cost]:
    """The costs that have nothing below them: those, and those below the others."""
    for cost in costs:
        if cost.children:
            yield from apart(cost.children)
        else:
            yield cost


def _full_name(op: str, phase: str, origin: str) -> str:
    """ "conv/a", "∂ conv/a · Mul_1", "c · ApplyAdam"."""
    own = op.rpartition("/")[2]
    if phase == "backward":
        return f"∂ {origin} · {own}"
    return op if op == origin or phase == "forward" else f"{origin} · {own}"


# -- trees ---------------------------------------------------------------------------------------


def _scopes(cost: Cost) -> tuple[Level, ...]:
    """The scopes around all that a cost stands for, and the operation if it is one."""
    names = cost.names
    shared = list(parents(names[0]))
    for other in names[1:]:
        around = set(parents(other))
        shared = [scope for scope in shared if scope in around]
    levels = tuple(Level("scope", scope) for scope in shared)
    return (*levels, Level("op", names[0])) if len(names) == 1 else levels


PATHS: Mapping[str, Path] = {
    "scope": _scopes,
    "phase": lambda cost: (Level("phase", cost.phase),),
    "type": lambda cost: (Level("type", cost.type),),
    "flat": lambda cost: (),
    "icicle": lambda cost: (Level("phase", cost.phase), *_scopes(cost)),
}


def tree(costs: Sequence[Cost], grouping: str) -> tuple[Cost, ...]:
    """The costs below their groups; see PATHS for the groupings. Phases come in their order."""
    path = PATHS[grouping]
    return _grouped([(cost, path(cost)) for cost in costs], 0, "")


def total(name: str, costs: Sequence[Cost]) -> Cost:
    """All of them as one."""
    return _sum("all", name, name, costs)


def _grouped(
    pairs: Sequence[tuple[Cost, tuple[Level, ...]]], depth: int, key: str
) -> tuple[Cost, ...]:
    own = [cost for cost, path in pairs if len(path) == depth]
    inside: dict[Level, list[tuple[Cost, tuple[Level, ...]]]] = {}
    for pair in pairs:
        if len(pair[1]) > depth:
            inside.setdefault(pair[1][depth], []).append(pair)
    groups = [_group(level, members, depth, key) for level, members in inside.items()]
    return (*groups, *own)


def _group(
    level: Level, members: Sequence[tuple[Cost, tuple[Level, ...]]], depth: int, key: str
) -> Cost:
    key = f"{key}{level.kind}:{level.name}|"
    children = _grouped(members, depth + 1, key)
    if level.kind != "op":
        return _sum(key, level.label, level.name, children)
    if len(children) == 1:  # an operation with one row is that row
        label = children[0].label.replace(level.name, level.label)
        return replace(children[0], key=key, label=label)
    first = next((c for c in children if c.phase == "forward"), None)
    inner = [replace(c, label=_inside(c)) for c in children]
    return _sum(key, level.label, level.name, inner, first.type if first is not None else "")


def _inside(cost: Cost) -> str:
    """A row's label below its operation, which it need not name again."""
    own = cost.name.rpartition(" · ")[2].rpartition("/")[2]
    return f"∂ {own}" if cost.phase == "backward" else own


def _sum(key: str, label: str, name: str, children: Sequence[Cost], type: str = "") -> Cost:
    phases, kernels = _by_phase(children), {c.kernel for c in children}
    return Cost(
        key,
        label,
        name,
        type,
        phase=phases[0].phase if len(phases) == 1 else "",
        seconds=sum([p.seconds for p in phases]),
        made=sum([p.made for p in phases]),
        read=sum([c.read for c in children]),
        calls=sum([c.calls for c in children]),
        kernel=kernels.pop() if len(kernels) == 1 else "",
        parts=tuple([part for c in children for part in c.parts]),
        children=tuple(children),
        phases=phases if len(phases) > 1 else (),
    )


def _by_phase(costs: Sequence[Cost]) -> tuple[Cost, ...]:
    """The sums of each phase, in the phases' order."""
    sums: dict[str, tuple[float, int]] = {}
    for cost in costs:
        for part in cost.phases or (cost,):
            seconds, made = sums.get(part.phase, (0.0, 0))
            sums[part.phase] = (seconds + part.seconds, made + part.made)
    return tuple(
        Cost(phase, phase, phase, "", phase, *sums[phase])
        for phase in sorted(sums, key=phase_order)
    )


def phase_order(phase: str) -> int:
    """In which place a phase runs."""
    return PHASES.index(phase) if phase in PHASES else len(PHASES)
