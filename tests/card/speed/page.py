"""docs/benchmarks-gpu.md, out of what cards were measured at: `python -m tests.card.speed.page`."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.card.device import COUNTED
from tests.card.speed import bench_counts
from tests.card.speed.bench_report import STEP_RATIOS, median, ratio, speed, why_not
from tests.card.speed.bench_tasks import CUB, OURS, PEER

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "benchmarks-gpu.md"
_FOLDER = ROOT / "tests" / "data" / "gpu"
_HEAD = """\
# What a card is measured at

Written by `./dev docs` out of the files that `./dev gpu --bench` made and that are kept in
`tests/data/gpu`; do not edit. Smaller is better, but for speeds.

A ratio divides the median time of Gradstep's step, or operation, by that of the peer it names, on
the same card in the same run. Both compute in float32 (no TF32), from the same arrays; losses,
gradients and parameters of the first three steps, and elements of an operation's results, were
held against PyTorch's before either was timed. *fast* and *recorded* are Gradstep's plans over
CuPy, of a training and of the debugger; *eager* is PyTorch as its users write it, its optimizers
fused; *graph* is its whole step captured as a CUDA graph, which leaves out what launching costs
(CuPy cannot: it refuses cuBLAS in a capture). Time is that from event to event on the card, one
step behind the other; *clock* is the host's, each step waited for; *fed* is that with the inputs
copied from the host before. *with CUB* is the fast plan with `CUPY_ACCELERATORS=cub`, as CuPy
has it by itself, by that of Gradstep, which leaves CUB off. How often the fast plan launches, waits
and copies in a step was counted without a card; how often PyTorch does, by its profiler.
"""


def page(folder: Path = _FOLDER) -> str:
    """Empty where no card was measured."""
    parts = [_section(path) for path in sorted(folder.glob("*-bench-*.json"))]
    return "\n".join([_HEAD, *parts]) if parts else ""


def main() -> int:
    if text := page():
        PAGE.write_text(text, encoding="utf-8", newline="\n")
    return 0


def _section(path: Path) -> str:
    found = json.loads(path.read_text(encoding="utf-8"))
    facts = found["facts"]
    names = ("numpy", "cupy-cuda13x", "torch")
    versions = ", ".join(f"{name} {facts[name]}" for name in names if name in facts)
    card = facts.get("name") or "no card"
    lines = [
        f"## {card}, {found['date']}\n",
        f"Driver {facts.get('driver_version', '–')}, {versions}; `{path.name}`.\n",
        *_table(
            (
                "a training step",
                *(title for title, *_ in STEP_RATIOS),
                "launches, waits, copies",
                "of PyTorch",
            )
        ),
        *(_row(cells) for cells in _steps(found)),
        "",
        *_table(("an operation", "of", "CuPy / PyTorch", "CuPy", "PyTorch", "with CUB")),
        *(_row(cells) for cells in _ops(found)),
        "",
        *_table(("a step of", "", "events: median", "p95", "clock: median", "p95")),
        *(_row(cells) for cells in _times(found)),
        "",
        *_missing(found),
    ]
    return "\n".join(lines)


def _table(titles: Sequence[str]) -> list[str]:
    return [_row(titles), "|" + "-|" * len(titles)]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _title(workload: str) -> str:
    said = importlib.import_module(f"tests.bench.workloads.{workload}").__doc__ or workload
    return str(said.partition(":")[0].partition(". ")[0].strip().rstrip("."))


def _steps(found: Mapping[str, Any]) -> Iterator[list[str]]:
    counts = bench_counts.known()
    for name, sides in found["steps"].items():
        cells = [ratio(sides.get(a), sides.get(b), kind) for _, a, b, kind in STEP_RATIOS]
        counted = counts.get(f"{name} fast", {}).get("step")
        theirs = found["counts"].get(name, {}).get("counts")
        both = (counted, [theirs[what] for what in COUNTED] if theirs else None)
        yield [_title(name), *cells, *(", ".join(map(str, x)) if x else "–" for x in both)]


def _ops(found: Mapping[str, Any]) -> Iterator[list[str]]:
    for name, sides in found["ops"].items():
        ours, theirs, cub = (sides.get(side) for side in (OURS, PEER, CUB))
        size = next((row["size"] for row in sides.values() if "size" in row), "")
        yield [name, size, ratio(ours, theirs), speed(ours), speed(theirs), ratio(cub, ours)]


def _times(found: Mapping[str, Any]) -> Iterator[list[str]]:
    for name, sides in found["steps"].items():
        for side, row in sides.items():
            if median(row) is not None:
                spreads = (row.get("device"), row["wall"])
                yield [name.upper(), side, *(cell for each in spreads for cell in _spread(each))]


def _spread(spread: Mapping[str, float] | None) -> tuple[str, str]:
    if spread is None:
        return "–", "–"
    return _time(spread["median"]), _time(spread["p95"])


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} µs"


def _missing(found: Mapping[str, Any]) -> Iterator[str]:
    """What was not timed, and why; and what was, and may be something else."""
    rows = [(name, found[kind][name]) for kind in ("steps", "ops") for name in found[kind]]
    rows += [(name, {"its profiler": row}) for name, row in found["counts"].items()]
    said = [
        f"- {name} by {side}: {why}."
        for name, sides in rows
        for side, row in sides.items()
        if (why := why_not(row))
    ]
    said += [
        f"- {name} by {side} was held to nothing."
        for name, sides in rows
        for side, row in sides.items()
        if row.get("alone")
    ]
    said += [f"- {task}: there was no time left." for task in found["left"]]
    if said:
        yield from ("What is missing:\n", *said, "")


if __name__ == "__main__":
    raise SystemExit(main())
