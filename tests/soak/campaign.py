"""Walks, one after the other, until the time is over: on an engine process, or in the window."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.host.engine_worker import REST
from gradstep.core.memory_release import release_memory
from tests.soak import documents
from tests.soak.engines import ProcessEngine, Tracebacks
from tests.soak.faults import BrokenError, Counts, Finding, OverError, figures
from tests.soak.memory import Watch, peak
from tests.soak.shrinking import breaks_again, shrunk
from tests.soak.user import ProtocolUser
from tests.soak.walk import LENGTH, RAN, Walk, kills

_TRAIL = 12  # last moves that are shown
_AT_REST = "tutorial"  # what is open while memory is measured
_WALKS = 10  # between two looks at memory
_SHRINKING = 20.0  # seconds for each finding


@dataclass
class Campaign:
    """What is asked for, and what came of it. say: gets a line for each finding."""

    window: bool
    say: Callable[[str], None]
    shrink: bool = True
    counts: Counts = field(default_factory=Counts)
    watch: Watch = field(default_factory=Watch)
    broken: list[Finding] = field(default_factory=list)
    seconds: float = 0.0
    _ran: list[str] = field(default_factory=list)

    def run(
        self, seed: int, seconds: float, until: int = LENGTH, only: Sequence[int] | None = None
    ) -> None:
        """Walk from `seed` on until the time is over; with `until` or `only` that walk alone."""
        start, first = time.monotonic(), seed
        alone = until != LENGTH or only is not None
        user, logged = self._user(), Tracebacks()
        try:
            while True:
                user = self._next(seed, user, logged, until, only)
                seed += 1
                self.seconds = time.monotonic() - start
                is_over = alone or self.seconds > seconds
                if is_over or (seed - first) % _WALKS == 0:
                    self._look(user)
                if is_over:
                    break
        finally:
            self.seconds = time.monotonic() - start
            logged.close()
            self._end(user)

    def as_json(self) -> dict[str, Any]:
        found = figures(self.counts, self.broken)
        memory = self.watch.as_json(self.seconds)
        broken = [
            {name: getattr(one, name) for name in one.__struct_fields__} for one in self.broken
        ]
        return {**found, **memory, "seconds": round(self.seconds), "broken": broken}

    def _next(
        self, seed: int, user: Any, logged: Tracebacks, until: int, only: Sequence[int] | None
    ) -> Any:
        """The walk of a seed; who makes the one after it. One that kills its engine has an engine
        of its own: the other lives on, and what it holds can be watched."""
        if self.window or not kills(seed):
            return self._walk(seed, user, logged, until, only)
        own = self._walk(seed, self._user(), logged, until, only)
        self.watch.most = max(self.watch.most, *map(peak, own.engine.pids()))
        own.engine.close()
        return user

    def _walk(
        self, seed: int, user: Any, logged: Tracebacks, until: int, only: Sequence[int] | None
    ) -> Any:
        """One walk; who makes the next one."""
        walk = Walk(seed, user, self.counts)
        logged.found.clear()
        try:
            walk.go(until, only)
            self._require_quiet(logged)
        except OverError:
            self.counts.done["paused"] += 1
        except BrokenError as error:
            self._note(walk, error)
            user = self._after(user)
        except GradstepError as error:
            self._note(walk, BrokenError("internal", f"{error.kind}: {error.message}"))
            user = self._after(user)
        return self._at_rest(user)

    def _require_quiet(self, logged: Tracebacks) -> None:
        if self._ran:
            raise BrokenError("untrusted", self._ran.pop())
        if logged.found:
            raise BrokenError("internal", "; ".join(logged.found)[-600:])

    def _note(self, walk: Walk, error: BrokenError) -> None:
        only: list[int] = []
        if self.shrink and not self.window and error.kind not in ("hang", "died", "untrusted"):
            moves = [*range(1, walk.number + 1)]
            only = shrunk(moves, breaks_again(walk.seed, walk.document, error.kind), _SHRINKING)
        how = f"--only {','.join(map(str, only))}" if only else f"--until {walk.number}"
        window = " --window" if self.window else ""
        finding = Finding(
            kind=error.kind,
            text=error.text,
            document=walk.document,
            seed=walk.seed,
            move=walk.number,
            trail=walk.trail[-_TRAIL:],
            command=f"./dev soak --seed {walk.seed} {how}{window}",
            only=only,
        )
        self.broken.append(finding)
        self.say(readable(finding))

    def _user(self) -> Any:
        if self.window:
            from tests.soak.window import WindowUser

            return WindowUser(self.counts, self._hear)
        return ProtocolUser(ProcessEngine(self.counts, self._hear), self.counts)

    def _hear(self, text: str) -> None:
        if RAN in text:
            self._ran.append(text.strip())

    def _after(self, user: Any) -> Any:
        """Who goes on after something broke: with another engine, for who knows about this one."""
        if self.window:
            user.recover()
            return user
        user.engine.close()
        return self._user()

    def _at_rest(self, user: Any) -> Any:
        try:
            user.open(documents.load(_AT_REST), True, 2 << 30)
        except (BrokenError, OverError):
            user = self._after(user)
            user.open(documents.load(_AT_REST), True, 2 << 30)
        gc.collect()  # this process opens documents, too: to compare with
        return user

    def _look(self, user: Any) -> None:
        """At memory, once the engine and this process have let go what earlier documents left."""
        user.rest(1.3 * REST)
        release_memory()
        self.watch.look(self.seconds, self._pids(user))

    def _pids(self, user: Any) -> dict[str, int]:
        if self.window:
            return {"window": os.getpid(), "engine": user.pids()[0]}
        return {"engine": user.engine.pids()[0], "driver": os.getpid()}

    def _end(self, user: Any) -> None:
        if self.window:
            user.close()
        else:
            user.engine.close()


def readable(finding: Finding) -> str:
    """For people, over a few lines."""
    head = f"{finding.kind}: {finding.document}, seed {finding.seed}, move {finding.move}"
    trail = [f"    {line:.160}" for line in finding.trail]
    return "\n".join([head, f"  {finding.text}", *trail, f"  {finding.command}"])


def summary(found: dict[str, Any]) -> str:
    """The figures, for people."""
    lines = [f"{name:>16}  {value}" for name, value in found.items() if name != "broken"]
    return "\n".join([*lines, f"{'broken':>16}  {len(found['broken'])}"])
