"""`./dev gpu --bench`: Gradstep's plans and kernels on a card beside PyTorch's, in turns.

Each library has a process of its own, and all of them stay; one at a time is asked. What CuPy has
to compile is compiled before, by as many processes as there are.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gradstep.gpu.fusion.reductions import SETTING
from tests.bench import small_sizes
from tests.bench.environments import ROOT, link_checkout, python_of
from tests.card.child import Child
from tests.card.journal import Journal
from tests.card.pool import Pool, library_of
from tests.card.speed import bench_counts, bench_report
from tests.card.speed.bench_tasks import CUB, OURS, PEER, judge_of, tasks

SECONDS = 0.3  # that a thing is timed for, about
_WORKER = "tests.card.speed.bench_worker"


def recount(options: Any, device: str, until: float) -> bool:
    """Count the steps of the workloads in their usual sizes, and keep that; nothing is timed."""
    stage = Stage(options, device, "cpu")
    wanted = [
        task.replace("steps|", "count|")
        for task in tasks(options.only)
        if task.startswith("steps|") and library_of(task) == OURS
    ]
    try:
        found = {task: stage.ask(task, until) for task in wanted}
    finally:
        stage.end()
    counted = {task: row for task, row in found.items() if "counts" in row}
    bench_counts.write(counted)
    for task in found.keys() - counted.keys():
        sys.stderr.write(f"gpu: {task} was not counted: {found[task]}\n")
    return counted.keys() == found.keys()


def run(options: Any, device: str, known: Mapping[str, Any], until: float) -> bool:
    """Measure what is not measured yet, and write bench.json. False where something of ours fails,
    computes something else than PyTorch, or was not come to."""
    facts = {**known, "peer": options.peer_device or ("cuda" if device == "card" else "cpu")}
    facts |= {"small": True} if options.small else {}
    journal = Journal(options.out / "bench.jsonl", facts)
    wanted = tasks(options.only)
    stage = Stage(options, device, facts["peer"])
    try:
        if device == "card":
            half = (time.monotonic() + until) / 2
            stage.compile([task for task in wanted if task not in journal.results], half)
        stage.measure(wanted, journal, until)
    finally:
        stage.end()
    found = bench_report.bench(facts, wanted, journal.results)
    text = json.dumps(found, indent=1, ensure_ascii=False)
    (options.out / "bench.json").write_text(text + "\n", encoding="utf-8")
    sys.stdout.write((text if options.json else bench_report.readable(found)) + "\n")
    return not (found["faults"] or found["left"])


class Stage:
    """The processes, a library each."""

    def __init__(self, options: Any, device: str, peer: str) -> None:
        self._options = options
        self._device, self._peer = device, peer
        self._children: dict[str, Child] = {}
        self._seconds = options.seconds or (600 if device == "host" else 45)

    def measure(self, wanted: Sequence[str], journal: Journal, until: float) -> None:
        """One after the other; a process that is lost costs its task."""
        began = time.monotonic()
        for library in {library_of(task) for task in wanted if task not in journal.results}:
            self._child(library)  # all load what they need at the same time
        for task in wanted:
            if task in journal.results or time.monotonic() >= until:
                continue
            first = judge_of(task)
            judge = None if first == task else journal.results.get(first, {}).get("numbers")
            seconds = 0.03 if self._options.small else SECONDS
            journal.add(task, self.ask(task, until, judge=judge, seconds=seconds))
            spent = time.monotonic() - began
            sys.stderr.write(f"gpu: {len(journal.results)}/{len(wanted)} {spent:.0f} s {task}\n")

    def ask(self, task: str, until: float, **how: Any) -> dict[str, Any]:
        """What the task's process answers, which may be its end."""
        library = library_of(task)
        seconds = min(self._seconds, until + 5 - time.monotonic())
        found = self._child(library).ask({"task": task, **how}, seconds)
        if "lost" in found or "died" in found:
            self._children.pop(library).end()
        return found

    def compile(self, wanted: Sequence[str], until: float) -> None:
        """Have CuPy's kernels compiled, which lie on disk then. What fails is told when it is
        measured."""
        ours = sorted((task for task in wanted if library_of(task) != PEER), key=library_of)
        workers = min(self._options.workers, len(ours))
        pool = Pool(self._started, workers, self._seconds, until, _to_compile)
        pool.run(ours, lambda task, found: None)

    def end(self) -> None:
        while self._children:
            self._children.popitem()[1].end()

    # -- inside --------------------------------------------------------------------------------

    def _child(self, library: str) -> Child:
        child = self._children.get(library)
        if child is None or not child.lives:
            child = self._children[library] = self._started(library)
        return child

    def _started(self, library: str) -> Child:
        python = self._python() if library == PEER else sys.executable
        command = [str(python), "-m", _WORKER, self._device, library, self._peer]
        return Child(command, self._options.out / "errors.log", self._variables(library))

    def _python(self) -> str | Path:
        if self._options.peer_python:
            return str(self._options.peer_python)
        return python_of("torch-device", True) if self._device == "host" else sys.executable

    def _variables(self, library: str) -> dict[str, str]:
        """All in float32, and with as much room for cuBLAS as it takes by itself."""
        found = {
            k: v for k, v in os.environ.items() if k not in ("CUBLAS_WORKSPACE_CONFIG", SETTING)
        }
        found |= {"CUPY_TF32": "0", "NVIDIA_TF32_OVERRIDE": "0", "PYTHONHASHSEED": "0"}
        if library == CUB:
            found[SETTING] = "cub"
        elif library == PEER and self._options.peer_python:
            found["PYTHONPATH"] = f"{_package(self._options.out)}{os.pathsep}{ROOT}"
        if self._options.small:
            found[small_sizes.VARIABLE] = "1"
        return found


def _to_compile(task: str) -> dict[str, Any]:
    return {"task": task, "compile": True}


def _package(folder: Path) -> Path:
    """A folder in which this checkout is the package `gradstep`."""
    found = folder.resolve() / "packages"
    found.mkdir(parents=True, exist_ok=True)
    link_checkout(found)
    return found
