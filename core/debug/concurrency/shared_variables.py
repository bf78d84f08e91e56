"""Variables that several threads work on: what they hold now, and what each thread saw of them.

Every thread has a plan, a timeline and memory of its own. Before it goes on at the end of its
timeline it takes over what others have changed since, and afterwards hands over what it has
written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from gradstep.core.debug.concurrency.observed_writes import ObservedWrites
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.run.recording import Recording
from gradstep.core.engine.run.variable_store import VariableStore
from gradstep.core.errors import GradstepError
from gradstep.core.ops.state.queue import Partial, WouldBlockError


class SharedVariables:
    """start: the variables before anything ran. names: what is shared; met: those of them that more
    than one thread has to do with. Changes are counted, variable by variable."""

    def __init__(self, start: VariableStore) -> None:
        self.start = start
        self.names: frozenset[str] = frozenset()
        self.met: frozenset[str] = frozenset()
        self.reset()

    def between(self, links: Sequence[Link]) -> None:
        """Share what outlives a run, if there are several threads."""
        plans = [link.plan for link in links] if len(links) > 1 else []
        uses = Counter(name for p in plans for name, v in p.variables.items() if not v.anew)
        self.names = frozenset(uses)
        self.met = frozenset(name for name, count in uses.items() if count > 1)
        for link in links:
            link.names = self.names & link.plan.versions.keys()

    def reset(self) -> None:
        self.changes: Counter[str] = Counter()
        self._waited = 0
        self._now = VariableStore(self.start.backend)

    def __getitem__(self, name: str) -> Any:
        """What the variable holds now; None before anything has changed it."""
        return self._now.get(name)

    @property
    def now(self) -> VariableStore:
        """What has been changed: for who comes back to it by `hold`."""
        return self._now

    def hold(self, now: VariableStore) -> None:
        """Hold this from now on, where nobody else does."""
        self._now = now

    def take_number(self) -> int:
        """For a thread that comes to wait: one more than the one before it had."""
        self._waited += 1
        return self._waited

    def set(self, name: str, value: Any) -> None:
        """A thread has written it. The value is copied, and never changed afterwards."""
        self._now.set(name, value)
        self.changes[name] += 1


class Link:
    """One thread's side of what is shared. names: what of that its plan has to do with, which is
    mostly nothing. seen: what it took over."""

    def __init__(self, shared: SharedVariables, plan: Plan) -> None:
        self.shared = shared
        self.plan = plan
        self.names: frozenset[str] = frozenset()
        self.reset()

    def reset(self) -> None:
        self._known: Counter[str] = Counter()  # changes that this thread has taken over or made
        self.seen = ObservedWrites()
        self._partial: tuple[str, Partial] | None = None

    def know_all(self) -> None:
        """What there is now is what the thread begins with."""
        self._known = self.shared.changes.copy()

    @property
    def is_amid_work(self) -> bool:
        """Whether the next step waits, and has done a part of its work."""
        return self._partial is not None and bool(self._partial[1].progress)

    def pull(self, live: Recording, run: int, done: int) -> None:
        """Take over in `live`, which has done so many steps of `run`, what others have changed."""
        for name in self.names:
            if self._known[name] < self.shared.changes[name]:
                self._known[name] = self.shared.changes[name]
                index = self.plan.newest(name, done)
                now = self._resumed(name, live.value(index))
                self._note(run, done, index, live, now)
                live.replace(index, now)

    def push(self, live: Recording, before: int, done: int, error: GradstepError | None) -> None:
        """Hand over what steps `before` to `done` have written, and what the one has that `error`
        kept from being done."""
        if done > before:
            self._partial = None
        for name in self.names:
            index = self.plan.newest(name, done)
            if index != self.plan.newest(name, before):
                self.shared.set(name, live.value(index))
                self._known[name] = self.shared.changes[name]
        if isinstance(error, WouldBlockError):
            self._wait(error.left.storage, error)
        elif error is not None and self._partial is not None:
            self._give_back(*self._partial)

    def put(self, live: Recording, run: int, done: int, values: Mapping[str, Any]) -> None:
        """Somebody gives variables other values, after so many steps of `run`."""
        for name, value in values.items():
            mine = name in self.plan.versions
            if mine:
                index = self.plan.newest(name, done)
                self.give(live, run, done, index, value)
            if not mine or name in self.shared.names:
                self.shared.set(name, value)
                self._known[name] = self.shared.changes[name]

    def give(self, live: Recording, run: int, done: int, index: int, value: Any) -> None:
        """Somebody gives a value of the plan, by its number, after so many steps of `run`."""
        self._note(run, done, index, live, value)
        live.give(index, value)

    def _note(self, run: int, done: int, index: int, live: Recording, now: Any) -> None:
        self.seen.note(run, done, index, partial(live.copy_of, index), now)

    def _resumed(self, name: str, own: Any) -> Any:
        """The shared value, `own` before anybody has changed it; with what this thread's waiting
        operation has done of its work."""
        now = self.shared[name]
        now = own if now is None else now
        if self._partial is not None and self._partial[0] == name:
            return replace(now, partial=self._partial[1])
        return now

    def _wait(self, name: str, error: WouldBlockError) -> None:
        if name in self.names:
            before = Partial() if self._partial is None else self._partial[1]
            self._partial = name, error.partial
            if error.partial.progress != before.progress:
                self.shared.set(name, error.left)

    def _give_back(self, name: str, partial: Partial) -> None:
        self._partial = None
        if partial.taken:
            self.shared.set(name, self.shared[name].given_back(partial))
