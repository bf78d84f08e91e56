"""The table: on the screen, and with a plot and the machine in docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Sequence

from tests.bench.environments import ROOT
from tests.bench.implementations import IMPLEMENTATIONS
from tests.bench.machine import measured_on
from tests.bench.missed import NOTES
from tests.bench.plot import plot
from tests.bench.racing import Races, step_times
from tests.bench.rows import Row
from tests.bench.spread import Spread

# What is published was measured on a core of its own.
_WAITED = 1.05  # the clock's time over CPU time
_DOUBT = 0.1  # how far a median may be off
_FEW = 0.1  # of all ratios

PAGE = ROOT / "docs/benchmarks.md"
PICTURE = ROOT / "docs/images/benchmarks.svg"

_HEAD = """\
# Benchmarks

Written by `./dev bench`; do not edit. Smaller is better everywhere.

A ratio compares two programs in one run. Each runs in a process of its own, with one thread, on
one core, in its own environment; they take turns, one active at a time, and time is the CPU time
of the whole process. In every round the two times of a step are divided; the table has the median
of these ratios and their quartiles. All programs start from the same arrays, and before any is
timed, the losses, gradients and parameters of its first three steps are held against the others'.
In rows with *all cores*, programs take the threads that their libraries take by themselves, and
time is the clock's.

The plan is fed once, and PyTorch and JAX have their arrays from the start; the TF1 session is fed
in every step, as its tutorials do (from constants, W1 takes it half as long).

The debugger's rows are ratios of the same kind, all within one process. Those of the canvas are
times, off screen and without a graphics card, on the machine below.
"""


def readable(rows: Sequence[Row]) -> str:
    """For the terminal."""
    width = max((len(row.name) for row in rows), default=0)
    lines = [f"{row.name:<{width}}  {_verdict(row):<6}  {_against(row)}" for row in rows]
    met = sum(row.met for row in rows)
    return "\n".join([*lines, "", f"{met} of {len(rows)} targets met"])


def _against(row: Row) -> str:
    if row.measured is None:
        return f"target {_number(row.target, row.unit)}: {row.why}"
    why = f"; {row.why}" if row.why else ""
    return f"{_spread(row.measured, row.unit)}, target {_number(row.target, row.unit)}{why}"


def _verdict(row: Row) -> str:
    return "met" if row.met else ("-" if row.measured is None else "missed")


def doubts(rows: Sequence[Row], races: Races) -> list[str]:
    """Why the figures should not be published: other programs were on the core (which costs peers
    more than it costs a plan), or the medians of too many ratios are not known well."""
    found = []
    if (waited := max((race.waited for race in races.values()), default=1.0)) > _WAITED:
        found.append(f"other programs had the core {1 - 1 / waited:.0%} of the time")
    off = {row.name: row.measured.doubt for row in rows if row.measured and row.unit == "ratio"}
    uncertain = [name for name, doubt in off.items() if doubt > _DOUBT]
    if len(uncertain) > _FEW * len(off):
        most = max(uncertain, key=off.__getitem__)
        count = f"the medians of {len(uncertain)} of {len(off)} ratios"
        found.append(f"{count} may be off by more than {_DOUBT:.0%}, most of all '{most}'")
    return found


def write(rows: Sequence[Row], races: Races) -> None:
    """docs/benchmarks.md and its picture."""
    PICTURE.write_text(plot(rows))
    parts = [_HEAD, f"![Measured against targets](images/{PICTURE.name})\n", _table(rows)]
    parts += [_missed(rows), _times(races), measured_on(racing=True)]
    PAGE.write_text("\n".join(part for part in parts if part))


def _table(rows: Sequence[Row]) -> str:
    lines = ["| | target | measured (quartiles) | |", "|-|-|-|-|"]
    for row in rows:
        found = row.why if row.measured is None else _spread(row.measured, row.unit)
        target = _number(row.target, row.unit)
        lines.append(f"| {row.name} | ≤ {target} | {found} | {_verdict(row)} |")
    return "\n".join([*lines, ""])


def _missed(rows: Sequence[Row]) -> str:
    lines = [
        f"- {row.name}: {NOTES[row.name]}" for row in rows if not row.met and row.name in NOTES
    ]
    return "\n".join(["## Missed\n", *lines, ""]) if lines else ""


def _times(races: Races) -> str:
    """Time of a step, of each program."""
    lines = ["## A step of each\n", "| | | time of a step (quartiles) |", "|-|-|-|"]
    for heat, programs in step_times(races).items():
        for name, spread in programs.items():
            title = IMPLEMENTATIONS[name].title
            calls = races[heat].facts.get(name, {}).get("calls")
            title += f", {calls} calls" if calls else ""
            lines.append(f"| {heat.title} | {title} | {_spread(spread, 's')} |")
    return "\n".join([*lines, ""])


def _spread(spread: Spread, unit: str) -> str:
    middle, low, high = (_number(x, unit) for x in (spread.median, spread.low, spread.high))
    return middle if low == high == middle else f"{middle} ({low}–{high})"


def _number(value: float, unit: str) -> str:
    if unit != "s":
        return f"{value:.3g}"
    for factor, name in ((1.0, "s"), (1e3, "ms")):
        if value * factor >= 1:
            return f"{value * factor:.3g} {name}"
    return f"{value * 1e6:.3g} µs"
