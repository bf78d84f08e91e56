"""The child process that measures: `python -m tests.card.speed.bench_worker DEVICE LIBRARY PEER`.

DEVICE is one of tests.card.device.KINDS, PEER what PyTorch calls its own. A question is a line of
JSON: {"task", "judge": what the one said whose results count, or null, "seconds": to spend on each
thing that is timed}; with "compile", it is run a few times, and nothing is timed. So is an answer.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from tests.bench.program import Program
from tests.card.device import Device, open_device
from tests.card.speed import agreeing, op_table, torch_counts, torch_steps
from tests.card.speed.bench_tasks import PEER
from tests.card.speed.clocks import cupy_clock, torch_clock
from tests.card.speed.device_plans import DevicePlan
from tests.card.speed.timing import timed
from tests.card.speed.torch_counts import NotCountedError
from tests.card.speed.torch_steps import CannotCaptureError

_SPIN, _FIRST_SPIN = 0.05, 1.0  # seconds of work before anything is timed


class Bench:
    """One library on one device."""

    def __init__(self, kind: str, library: str, peer: str) -> None:
        self._peer = peer
        self._device: Device | None = None
        if library == PEER:
            torch_steps.set_up()
            self._clock = torch_clock(peer)
        else:
            self._device = open_device(kind)
            self._clock = cupy_clock(self._device)
        self._spin = _FIRST_SPIN

    def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """What was measured; {"differs": …} where it computes something else, {"failed": …} where
        it does not run; lost: whether this process is of no use any more."""
        kind, _, *item = question["task"].split("|")
        began = time.monotonic()
        work = {"op": self._op, "steps": self._steps, "count": self._count}[kind]
        try:
            found = work(*item, question)
        except Exception as error:
            found = {"failed": _told(error)}
            if isinstance(error, CannotCaptureError) and error.lost:
                found["lost"] = "capture"
        gc.collect()  # plans and their arrays hold each other
        try:
            self._clock.wait()
            self._clock.free()
        except Exception as error:
            found["lost"] = f"{type(error).__name__}: {error}"
        return {**found, "took": round(time.monotonic() - began, 2)}

    # -- inside --------------------------------------------------------------------------------

    def _steps(self, name: str, way: str, question: Mapping[str, Any]) -> dict[str, Any]:
        module = importlib.import_module(f"tests.bench.workloads.{name}")
        with self._program(module, way, module.RATES["check"]) as program:
            count = agreeing.STEPS * (2 if way == "eager" else 1)  # as long as a graph's
            numbers = agreeing.first_steps(program, count)
        if question.get("compile"):
            return {}
        found: dict[str, Any] = {"numbers": numbers}
        judge = (question.get("judge") or [])[agreeing.STEPS if way == "graph" else 0 :]
        if judge and (differs := agreeing.steps_differ(judge, numbers)):
            return {**found, "differs": differs}
        with self._program(module, way, module.RATES["time"]) as program:
            self._warm()
            found |= timed(program, self._clock, float(question["seconds"]))
            found |= {"facts": dict(program.facts), **self._counted(program)}
        return {**found, **self._alone(judge)}

    def _count(self, name: str, way: str, question: Mapping[str, Any]) -> dict[str, Any]:
        module = importlib.import_module(f"tests.bench.workloads.{name}")
        with self._program(module, way, module.RATES["time"]) as program:
            if self._device is None:
                return {"counts": torch_counts.counted(program, self._peer)}
            program.step()
            return self._counted(program)

    @contextlib.contextmanager
    def _program(self, module: Any, way: str, rate: float) -> Iterator[Program]:
        if self._device is None:
            with torch_steps.program(partial(module.torch, rate), self._peer, way) as made:
                yield made
            return
        plan = DevicePlan(self._device.backend(), way)
        made = module.ours(rate, mode=plan)
        facts = {**made.facts, "plan": plan.ran}
        yield Program(made.step, made.numbers, self._clock.wait, facts, plan.feed)

    def _counted(self, program: Program) -> dict[str, Any]:
        """How often a step launches, waits and copies, and one with its inputs; where that can be
        counted."""
        if self._device is None or not self._device.count():
            return {}
        found = {}
        for name, feeds in (("counts", False), ("fed_counts", True)):
            before = self._device.count()
            if feeds and program.feed is not None:
                program.feed()
            program.step()
            found[name] = self._device.counted(before)
        return found

    def _op(self, name: str, question: Mapping[str, Any]) -> dict[str, Any]:
        row = op_table.OP_ROWS[name]
        if self._device is None:
            made = op_table.torch(row, self._peer)
        else:
            made = op_table.ours(row, self._device.backend())
        numbers = [agreeing.digest(array) for array in made.results()]
        if question.get("compile"):
            return {}
        found: dict[str, Any] = {"numbers": numbers, "size": row.size}
        found |= {"flop": float(row.flop), "bytes": float(row.nbytes)}
        judge = question.get("judge")
        if judge and (differs := agreeing.results_differ(judge, numbers, row.tolerance)):
            return {**found, "differs": differs}
        self._warm()
        program = Program(made.step, dict)
        found |= timed(program, self._clock, float(question["seconds"]) / 2)
        return {**found, **self._alone(judge)}

    def _alone(self, judge: Any) -> dict[str, Any]:
        """Of ours: whether there was nothing to hold it to."""
        return {} if judge or self._device is None else {"alone": True}

    def _warm(self) -> None:
        self._clock.warm(self._spin)
        self._spin = _SPIN


def main(kind: str, library: str, peer: str) -> int:
    """Ends with 3 after what nothing in this process can mend."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no answer
    bench, why = _opened(kind, library, peer)
    gc.freeze()  # what is loaded stays, and need not be looked at between tasks
    for line in sys.stdin:
        found = {"failed": why} if bench is None else bench.answer(json.loads(line))
        answers.write(json.dumps(found) + "\n")
        answers.flush()
        if found.get("lost"):
            os._exit(3)  # destructors would wait for the card
    return 0


def _opened(kind: str, library: str, peer: str) -> tuple[Bench | None, str]:
    """Or why there is none. Before anything is asked: libraries take seconds to load."""
    try:
        return Bench(kind, library, peer), ""
    except Exception as error:
        return None, _told(error)


def _told(error: Exception) -> str:
    said = " ".join(str(error).split())[:300]
    if isinstance(error, CannotCaptureError | NotCountedError):
        return said
    return f"{type(error).__name__}: {said}"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
