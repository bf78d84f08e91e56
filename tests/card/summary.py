"""What a verification found, in one object and in lines for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from tests.card.device import COUNTED
from tests.card.excuses import EXCUSES, RUNS
from tests.card.host_counts import OPS_KNOWN, more

Row = Mapping[str, Any]
_PROGRAMS = ("random|", "fast|", "placed|")


def summary(facts: Row, results: Mapping[str, Any], left: int) -> dict[str, Any]:
    """ops, samples, out_forms: how many were tried. refused: what fails on the device alone;
    differ: what is farther from NumPy than the comparison allows; excused: where that is known, and
    no fault. ulp: op type -> the largest 99th percentile over its samples, where it is not 0.
    counted: op type -> the most launches, waits and copies of a sample in float32; example_runs:
    example -> those of its second run; launches, waits, copies: of all `counted` (where
    a device counts); programs: how many random ones were run, and unsteady: of
    how many two runs gave other bits; more: where they are more than they are known to be. left:
    tasks that there was no time for."""
    ops = {_item(t): r for t, r in results.items() if t.startswith("op|")}
    examples = {_item(t): r for t, r in results.items() if t.startswith("example|")}
    rows = {
        name: [*map(partial(_excused, name), result.get("rows", []))]
        for name, result in ops.items()
    }
    runs = {n: [r[k] for k in COUNTED] for n, r in examples.items() if "waits" in r}
    counted = {name: found for name, each in rows.items() if (found := _counted(each))}
    plain = [row for each in rows.values() for row in each if "form" not in row]
    programs = {task: r for task, r in results.items() if task.startswith(_PROGRAMS)}
    return {
        "facts": facts,
        "ops": len(ops),
        "samples": len(plain),
        "out_forms": sum(1 for each in rows.values() for row in each if "form" in row),
        "examples": len(examples),
        "programs": sum(r.get("programs", 0) for r in programs.values()),
        "unsteady": sum(r.get("unsteady", 0) for r in programs.values()),
        "verdicts": _tally(row["verdict"] for row in plain),
        "refused": [
            *_rows_of(rows, "refused"),
            *_of_examples(examples, "refused"),
            *_died(results),
        ],
        "excused": _rows_of(rows, "excused"),
        "differ": [
            *_rows_of(rows, "differs"),
            *_of_examples(examples, "differ"),
            *_of_examples(programs, "wrong"),
        ],
        "runs": {n: r[k] for n, r in examples.items() for k in ("stops", "apart") if r.get(k)},
        "failures": {
            t: r for t, r in results.items() if t.startswith(("memory|", "assert|", "stand-in|"))
        },
        "ulp": {name: ulp for name, each in rows.items() if (ulp := _ulp(each))},
        "counted": counted,
        **dict(zip(COUNTED, map(sum, zip(*counted.values(), strict=True)), strict=False)),
        "example_runs": runs,
        "more": [*more(runs), *more(counted, OPS_KNOWN)],
        "left": left,
    }


def is_clean(found: Row) -> bool:
    failed = [r for r in found["failures"].values() if r.get("verdict") != "ok"]
    strange = found["runs"].keys() - RUNS.keys()
    return not (failed or strange or any(found[k] for k in ("refused", "differ", "more", "left")))


def readable(found: Row) -> str:
    """A few lines, the worst first."""
    lines = [
        f"{found['ops']} operations, {found['samples']} samples, {found['out_forms']} given out, "
        f"{found['examples']} examples, {found['programs']} programs: "
        f"{len(found['refused'])} refused, "
        f"{len(found['differ'])} differ, {found['left']} not tried"
    ]
    for kind in ("refused", "differ", "excused", "more"):
        lines += [f"  {kind}: {' '.join(map(str, each))[:300]}" for each in found[kind][:40]]
    lines += [f"  runs of {name}: {str(what)[:200]}" for name, what in found["runs"].items()]
    lines += [f"  {task}: {str(what)[:300]}" for task, what in found["failures"].items()]
    return "\n".join(lines)


def _excused(name: str, row: Row) -> Row:
    is_known = row["verdict"] == "differs" and (name, row["dtype"]) in EXCUSES
    return {**row, "verdict": "excused"} if is_known else row


def _item(task: str) -> str:
    return task.split("|")[2]


def _tally(words: Iterable[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for word in words:
        found[word] = found.get(word, 0) + 1
    return found


def _rows_of(rows: Mapping[str, list[Row]], verdict: str) -> list[list[Any]]:
    return [
        [name, row["dtype"], row["sample"], row.get("form", "plain"), row.get("text", "")]
        for name, each in rows.items()
        for row in each
        if row["verdict"] == verdict
    ]


def _of_examples(examples: Mapping[str, Row], what: str) -> list[list[Any]]:
    return [[name, *said] for name, each in examples.items() for said in each.get(what, [])]


def _died(results: Mapping[str, Any]) -> list[list[Any]]:
    """Tasks whose process did not live through them, or after which the device was lost."""
    ends = ((t, r.get("died") or r.get("lost")) for t, r in results.items() if isinstance(r, dict))
    return [[task, said] for task, said in ends if said and not task.startswith("assert|")]


def _ulp(rows: Iterable[Row]) -> float:
    return max((row.get("ulp_p99", 0.0) for row in rows), default=0.0)


def _counted(rows: Iterable[Row]) -> list[int]:
    """Of each sample in float32, or in whatever comes first where it is of one type alone."""
    have = [row for row in rows if "waits" in row]
    of = {row["sample"]: row for row in reversed(have)}
    of |= {row["sample"]: row for row in have if row["dtype"] == "float32"}
    return [max(row[name] for row in of.values()) for name in COUNTED] if have else []
