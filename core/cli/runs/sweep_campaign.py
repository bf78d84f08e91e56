"""The runs of a sweep on an executor: begun, watched, written down as each is over."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from gradstep.core.cli.runs.sweep_run import RunOrder, make_run
from gradstep.core.errors import GradstepError, unforeseen
from gradstep.core.host.workers.work_link import STOPPED
from gradstep.core.json_text import UNREADABLE
from gradstep.core.protocol.error_records import info_of
from gradstep.core.sweep.run_list import RunSpec
from gradstep.core.sweep.sweep_folder import Point, SweepFolder
from gradstep.core.sweep.sweep_records import RunRow

_LOOK = 0.2  # seconds after which it is looked whether to end, where nothing happens


class Workers(Protocol):
    """An executor that can be stopped: gradstep.core.host.workers.worker_pool.WorkerPool, or one
    like it."""

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Future[Any]: ...

    def stop(self) -> None: ...

    def shutdown(self) -> None: ...


class _News(msgspec.Struct, frozen=True):
    """What a run reports, of which a stranger's Python may have made anything."""

    points: list[Point] = []
    step: int = 0
    total: int = 0
    begun: int = 0


@dataclass
class Running:
    """One run that is under way."""

    spec: RunSpec
    step: int = 0
    total: int = 0
    tries: int = 1


@dataclass(eq=False)
class Campaign:
    """folder: where it is written down. changed: called with a row that is new, or with None where
    only `running` is other than it was. rows: all that are over."""

    folder: SweepFolder
    changed: Callable[[RunRow | None], None]
    rows: list[RunRow] = field(default_factory=list)
    running: dict[int, Running] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._events: queue.SimpleQueue[tuple[Future[Any], dict[str, Any] | None]]
        self._events = queue.SimpleQueue()

    def tell(self, future: Future[Any], news: dict[str, Any]) -> None:
        """For the executor, from any thread."""
        self._events.put((future, news))

    def make(
        self, orders: Iterable[RunOrder], workers: Workers, is_stopped: Callable[[], bool]
    ) -> None:
        """Have all of them made, up to the time when it is to stop. What was over then is kept.
        Raises GradstepError (FileError) where that cannot be written down."""
        specs: dict[Future[Any], RunSpec] = {}
        try:
            for order in orders:
                future = workers.submit(make_run, msgspec.to_builtins(order))
                specs[future] = order.spec
                future.add_done_callback(lambda done: self._events.put((done, None)))
            self._watch(specs, is_stopped)
        except BaseException:
            workers.stop()
            raise
        if is_stopped():
            workers.stop()
            self._drain(specs)
        workers.shutdown()

    def _watch(self, specs: dict[Future[Any], RunSpec], is_stopped: Callable[[], bool]) -> None:
        left = len(specs)
        while left and not is_stopped():
            try:
                future, news = self._events.get(timeout=_LOOK)
            except queue.Empty:
                self.changed(None)
                continue
            left -= news is None
            self._take(specs[future], future, news)

    def _drain(self, specs: dict[Future[Any], RunSpec]) -> None:
        """What came to its end while it was stopped."""
        while not self._events.empty():
            future, news = self._events.get()
            self._take(specs[future], future, news)

    def _take(self, spec: RunSpec, future: Future[Any], news: dict[str, Any] | None) -> None:
        if news is not None:
            self._note(spec, news)
            return
        tries = self.running.pop(spec.number, Running(spec)).tries
        row = _row(spec, future)
        if row is not None:
            row = msgspec.structs.replace(row, tries=max(1, tries))
            self.folder.add_row(row)
            self.rows.append(row)
            self.changed(row)

    def _note(self, spec: RunSpec, news: dict[str, Any]) -> None:
        try:
            said = msgspec.convert(news, _News)
        except (msgspec.ValidationError, *UNREADABLE):
            return
        if said.begun:
            self.running[spec.number] = Running(spec, tries=said.begun)
            self.folder.begin_curve(spec.number)
        if not any(row.number == spec.number for row in self.rows):  # a cluster's come late
            run = self.running.setdefault(spec.number, Running(spec))
            run.step, run.total = said.step, said.total
        if said.points:
            self.folder.add_points(spec.number, said.points)
        self.changed(None)


def _row(spec: RunSpec, future: Future[Any]) -> RunRow | None:
    """What came of a run; None where it was ended before."""
    if future.cancelled():
        return None
    try:
        row = msgspec.convert(future.result(), RunRow)
        return msgspec.structs.replace(row, **_who(spec))
    except GradstepError as error:
        if error.kind == STOPPED:
            return None
        return RunRow(**_who(spec), error=info_of(error))
    except Exception as error:  # of an executor of others, or an answer that is none
        why = unforeseen("the process that made this run gave no answer", error)
        return RunRow(**_who(spec), error=info_of(why))


def _who(spec: RunSpec) -> dict[str, Any]:
    return {"number": spec.number, "values": spec.values, "seed": spec.seed}
