"""Several sessions side by side, each with its own variables, queues, threads, runs and position.

They may run one program or several. What one session does changes nothing in the others; values
are copied between them, never referred to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.history.frame import Frame
from gradstep.core.debug.history.frozen_program import NamedEdit
from gradstep.core.debug.history.manual_assignments import concerned
from gradstep.core.engine.run.variable_map import map_variables, variables
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef

FIRST = "main"


class Sessions:
    """By name; `current` is the name of the one that commands mean. Never empty. Together they keep
    as many bytes of recorded runs as one of them was made for."""

    def __init__(self, by_name: Mapping[str, Scheduler], current: str = FIRST) -> None:
        self._by_name = dict(by_name)
        self.question = ""  # that was asked of them last, for who asks on
        self.offered: tuple[NamedEdit, ...] = ()  # the edits that the answer named
        self._breakpoints: tuple[Breakpoint, ...] = ()
        self.current = current
        self._limit = sum(thread.timeline.limit_bytes for thread in self.session.sessions)
        self._share()

    @property
    def by_name(self) -> Mapping[str, Scheduler]:
        return self._by_name

    @property
    def session(self) -> Scheduler:
        """The current one."""
        return self._by_name[self.current]

    def __getitem__(self, name: str) -> Scheduler:
        if name not in self._by_name:
            hint = f"the sessions are {', '.join(self._by_name)}"
            raise GradstepError(f"there is no session '{name}'", kind="KeyError", hint=hint)
        return self._by_name[name]

    def set_breakpoints(self, breakpoints: Sequence[Breakpoint]) -> None:
        """The same for all of them. Raises GradstepError for a condition that cannot be read."""
        for session in self._by_name.values():
            session.set_breakpoints(breakpoints)
        self._breakpoints = tuple(breakpoints)

    def pause(self) -> None:
        """From any thread of Python: let none of them go on with what it is executing."""
        for session in [*self._by_name.values()]:
            session.pause()

    def new(self, name: str, make: Callable[[], Scheduler]) -> None:
        """A session before its first run, which is current then. Raises GradstepError for a name
        that is taken."""
        self._require_free(name)
        session = make()
        session.set_breakpoints(self._breakpoints)
        self._by_name[name] = session
        self.current = name
        self._share()

    def duplicate(self, name: str, make: Callable[[], Scheduler]) -> None:
        """A new session that starts from what the current one's variables hold now. Raises
        GradstepError, and makes none, where they do not fit the variables: one was fed."""
        values, before = read_variables(self.session), self.current
        self.new(name, make)
        try:
            self.session.assign(values)
        except GradstepError:
            self.delete(name)
            self.current = before
            raise

    def delete(self, name: str) -> None:
        """End a session; the first of the others is current if it was."""
        self[name]
        if len(self._by_name) == 1:
            raise GradstepError(
                f"'{name}' is the only session", kind="ValueError", hint="make another one first"
            )
        del self._by_name[name]
        if self.current == name:
            self.current = next(iter(self._by_name))
        self._share()

    def switch(self, name: str) -> None:
        """Make a session the current one; the others stay where they stand."""
        self[name]
        self.current = name

    def copy(self, source: str, target: str, wanted: Sequence[str] = ()) -> dict[str, str]:
        """Copy variables as they are now in session `source` to session `target`, which may be the
        same one: see `gradstep.core.engine.run.variable_map.map_variables` for `wanted`. Returns
        variable of the target -> of the source. Raises GradstepError where one that is named has
        no value, or one does not fit; then nothing is copied."""
        start, end = self[source], self[target]
        pairs = map_variables(start.program.graph, end.program.graph, wanted)
        values = read_variables(start)
        named = {text.partition("=")[0] for text in wanted}
        for name in pairs.values():
            if name not in values and name in named:
                raise GradstepError(
                    f"Attempting to use uninitialized value {name}",
                    kind="FailedPreconditionError",
                    node=name,
                    hint=f"in session '{source}' it has no value: give it an initial one, or run "
                    "its initializer first",
                )
        pairs = {new: old for new, old in pairs.items() if old in values}
        end.assign({new: values[old] for new, old in pairs.items()})
        return pairs

    def _share(self) -> None:
        counts = {name: len(each.kept_sessions) for name, each in self._by_name.items()}
        share = self._limit // sum(counts.values())
        for name, session in self._by_name.items():
            session.keep_at_most(share * counts[name])

    def _require_free(self, name: str) -> None:
        if not name:
            raise GradstepError("a session needs a name", kind="ValueError", hint="for example 'b'")
        if name in self._by_name:
            raise GradstepError(
                f"there is a session '{name}' already",
                kind="ValueError",
                hint="choose another name, or switch to it",
            )


def read_variables(session: Scheduler) -> dict[str, np.ndarray]:
    """What the variables of a session hold where it stands, on the host; those without a value are
    absent."""
    return dict(_held(session, Frame.value))


def look_at_variables(session: Scheduler) -> Iterator[tuple[str, np.ndarray]]:
    """The same without copies, read-only: to be done with before the debugger moves."""
    return _held(session, Frame.look)


def _held(
    session: Scheduler, read: Callable[[Frame, TensorRef], np.ndarray | None]
) -> Iterator[tuple[str, np.ndarray]]:
    threads = session.sessions
    for name, op in variables(session.program.graph).items():
        value = read(concerned(threads, op).frame(), TensorRef.parse(name))
        if value is not None:
            yield name, value
