"""`./dev gpu`: hold the GPU's way through Gradstep to NumPy, on a card or on its stand-in."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tests.bench.environments import NotAvailableError
from tests.card import example_trials, host_counts, host_environment, op_trials, recording, summary
from tests.card.journal import Journal
from tests.card.machine_facts import facts
from tests.card.pool import Pool, worker
from tests.card.speed import bench, bench_tasks
from tests.support.hostcuda.building import NotBuiltError

BATCHES = 20  # of random programs, of each kind


def main(arguments: Sequence[str] | None = None) -> int:
    """0: nothing is refused, nothing differs, nothing is left; 1: something; 2: bad usage."""
    parser = _parser()
    options = parser.parse_args(arguments)
    known_words = (tasks, recording.tasks, bench_tasks.tasks)
    if unknown := [w for w in options.only or () if not any(of([w]) for of in known_words)]:
        parser.error(f"there is nothing called {', '.join(unknown)} to try")
    if options.host:
        try:
            host_environment.enter(sys.argv[1:] if arguments is None else arguments)
        except (NotAvailableError, NotBuiltError) as error:
            return _skipped(str(error), options)
    if options.out is not None:
        return _run(options)
    if options.record or options.bench:
        parser.error("what is recorded or timed is kept: say where, with --out DIR")
    with tempfile.TemporaryDirectory() as folder:
        options.out = Path(folder)
        return _run(options)


def _run(options: Any) -> int:
    device = "host" if options.host else "card"
    options.out.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + 60 * options.minutes
    known = facts(device)
    ok = True
    if options.verify or not (options.record or options.bench):
        ok = _verify(options, device, known, until) and ok
    if options.record:
        ok = _record(options, device, known, until) and ok
    if options.bench:
        ok = _bench(options, device, known, until) and ok
    return 0 if ok else 1


def _skipped(why: str, options: Any) -> int:
    """Said, and no failure: whoever has no compiler or no network has no card to fail on."""
    said = json.dumps({"skipped": why}) if options.json else f"skipped: {why}"
    sys.stdout.write(said + "\n")
    return 0


def tasks(only: Sequence[str], library: str = "cupy") -> list[str]:
    """All that a verification tries, what takes longest first; or that of which `only` names a
    part."""
    found = [
        *(f"example|{library}|{name}" for name in example_trials.names()),
        f"assert|{library}|",  # that a card lives on is seen by all that follows
        f"memory|{library}|",
        *(["stand-in|cupy|"] if library == "cupy" else []),
        *(f"{kind}|{library}|{n}" for n in range(BATCHES) for kind in ("random", "fast", "placed")),
        *(f"op|{library}|{name}" for name in op_trials.types()),
    ]
    return [task for task in found if not only or any(_is_named(task, word) for word in only)]


def _quick(task: str) -> str:
    return f"{task}|quick" if task.startswith("op|") else task


def _is_named(task: str, word: str) -> bool:
    return word in (task.split("|")[2] or task.split("|")[0], task.split("|")[0])


def _verify(options: Any, device: str, known: dict[str, Any], until: float) -> bool:
    name, library = ("verify-torch", "torch") if options.torch else ("verify", "cupy")
    journal = Journal(options.out / f"{name}.jsonl", known)
    wanted = [_quick(task) if options.quick else task for task in tasks(options.only, library)]
    _try(options, device, journal, wanted, until)
    left = sum(1 for task in wanted if task not in journal.results)
    found = summary.summary(known, journal.results, left)
    if options.recount and device == "host":
        host_counts.write(found["example_runs"])
        host_counts.write(found["counted"], host_counts.OPS_KNOWN)
    text = json.dumps(found, indent=1, ensure_ascii=False)
    (options.out / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    sys.stdout.write((text if options.json else summary.readable(found)) + "\n")
    return summary.is_clean(found)


def _record(options: Any, device: str, known: dict[str, Any], until: float) -> bool:
    journal = Journal(options.out / "record.jsonl", known)
    wanted = recording.tasks(options.only)
    _try(options, device, journal, wanted, until)
    said = recording.write(options.out, known, journal.results)
    sys.stdout.write((json.dumps(said) if options.json else recording.readable(said)) + "\n")
    return all(task in journal.results for task in wanted)


def _bench(options: Any, device: str, known: dict[str, Any], until: float) -> bool:
    if options.recount and device == "host":
        return bench.recount(options, device, until)
    return bench.run(options, device, known, until)


def _try(options: Any, device: str, journal: Journal, wanted: list[str], until: float) -> None:
    missing = [task for task in wanted if task not in journal.results]
    count, began = len(missing), time.monotonic()

    def done(task: str, result: Any) -> None:
        journal.add(task, result)
        spent = time.monotonic() - began
        sys.stderr.write(f"gpu: {len(journal.results)}/{len(wanted)} {spent:.0f} s {task}\n")

    start = partial(worker, device, options.out / "errors.log")
    seconds = options.seconds or (600 if device == "host" else 120)
    Pool(start, min(options.workers, max(count, 1)), seconds, until).run(missing, done)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev gpu", description=__doc__)
    parser.add_argument("--verify", action="store_true", help="every operation and example (usual)")
    parser.add_argument("--record", action="store_true", help="what libraries do on the card")
    parser.add_argument("--bench", action="store_true", help="how fast it is, beside PyTorch")
    parser.add_argument("--host", action="store_true", help="CuPy on this processor: no card")
    parser.add_argument("--torch", action="store_true", help="verify PyTorch's way to the card")
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="keep the results there, to go on from"
    )
    parser.add_argument("--minutes", type=float, default=60, metavar="N", help="then it ends")
    parser.add_argument("--seconds", type=float, default=0, metavar="N", help="a task may take")
    parser.add_argument("--workers", type=int, default=8, metavar="N", help="processes at a time")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="these alone")
    parser.add_argument("--quick", action="store_true", help="operations in float32 alone")
    parser.add_argument("--recount", action="store_true", help="keep what --host counted")
    parser.add_argument("--small", action="store_true", help="a bench of small sizes: a try of it")
    parser.add_argument("--peer-device", choices=("cuda", "cpu"), help="PyTorch's, in a bench")
    parser.add_argument("--peer-python", metavar="PYTHON", help="one that has PyTorch")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    return parser


if __name__ == "__main__":
    sys.exit(main())
