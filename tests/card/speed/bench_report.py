"""What a bench found, in one object and as a table for people."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from tests.card.speed.bench_tasks import PEER

Row = Mapping[str, Any]
_WHY = ("failed", "differs", "died", "lost")


def bench(facts: Row, wanted: Sequence[str], results: Mapping[str, Row]) -> dict[str, Any]:
    """steps: workload -> "LIBRARY WAY" -> what was timed; ops: operation -> LIBRARY -> the same;
    counts: workload -> how often a step of PyTorch's launches, waits and copies. faults: what of
    ours does not run, or computes something else; left: what was not come to."""
    date = time.strftime("%Y-%m-%d", time.gmtime())
    found: dict[str, Any] = {"facts": facts, "date": date, "steps": {}, "ops": {}, "counts": {}}
    for task in wanted:
        if task not in results:
            continue
        kind, library, item, *way = task.split("|")
        row = {name: value for name, value in results[task].items() if name != "numbers"}
        if kind == "count":
            found["counts"][item] = row
        elif kind == "steps":
            found["steps"].setdefault(item, {})[f"{library} {way[0]}"] = row
        else:
            found["ops"].setdefault(item, {})[library] = row
    mine = [task for task in wanted if task.split("|")[1] != PEER]
    found["faults"] = [t for t in mine if why_not(results.get(t, {}))]
    found["left"] = [task for task in wanted if task not in results]
    return found


def why_not(row: Row) -> str:
    """Why there are no times; empty where there are."""
    return next((f"{word}: {row[word]}" for word in _WHY if word in row), "")


def median(row: Row | None, kind: str = "device") -> float | None:
    """Seconds; of the clock where there are no events."""
    if row is None or "wall" not in row:
        return None
    if kind == "device" and "device" not in row:
        kind = "wall"
    found = row.get(kind)
    return float(found["median"] if isinstance(found, Mapping) else found) if found else None


def ratio(ours: Row | None, theirs: Row | None, kind: str = "device") -> str:
    """Smaller is better; a dash where one of them was not timed."""
    a, b = median(ours, kind), median(theirs, kind)
    return "–" if a is None or not b else f"{a / b:.2g}" if a / b < 100 else f"{a / b:.0f}"


def speed(row: Row | None) -> str:
    """Operations on numbers, or bytes, in a second."""
    took = median(row)
    if row is None or not took:
        return "–"
    if row["flop"]:
        return f"{row['flop'] / took / 1e12:.3g} TFLOP/s"
    return f"{row['bytes'] / took / 1e9:.3g} GB/s"


def readable(found: Row) -> str:
    """Ratios, smaller is better, and what was not timed."""
    lines = [f"{'a step':<12}" + "".join(f"{title:>22}" for title, *_ in STEP_RATIOS)]
    for name, sides in found["steps"].items():
        cells = (ratio(sides.get(a), sides.get(b), k) for _, a, b, k in STEP_RATIOS)
        lines.append(f"{name.upper():<12}" + "".join(f"{cell:>22}" for cell in cells))
    lines += ["", f"{'an operation':<38}{'CuPy/PyTorch':>14}{'CuPy':>18}{'PyTorch':>18}"]
    for name, op in found["ops"].items():
        ours, theirs = op.get("cupy"), op.get(PEER)
        cells = f"{ratio(ours, theirs):>14}{speed(ours):>18}{speed(theirs):>18}"
        lines.append(f"{name:<38}{cells}")
    rows = [(f"{n} {s}", r) for n, sides in found["steps"].items() for s, r in sides.items()]
    rows += [(f"{n} {s}", op[s]) for n, op in found["ops"].items() for s in op]
    rows += [(f"{n} counts", row) for n, row in found["counts"].items()]
    lines += [f"  {name}: {why}"[:300] for name, row in rows if (why := why_not(row))]
    lines += [f"{len(found['faults'])} faults of ours, {len(found['left'])} not come to"]
    return "\n".join(lines)


# What is divided by what, and by which clock: its title, ours, theirs, the kind of time.
STEP_RATIOS = (
    ("fast/eager", "cupy fast", "torch eager", "device"),
    ("fast/graph", "cupy fast", "torch graph", "device"),
    ("fast/eager, clock", "cupy fast", "torch eager", "wall"),
    ("fed", "cupy fast", "torch eager", "fed"),
    ("recorded/fast", "cupy recorded", "cupy fast", "device"),
    ("with CUB", "cupy-cub fast", "cupy fast", "device"),
)
