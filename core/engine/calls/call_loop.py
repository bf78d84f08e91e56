"""Making bound calls one after the other, and saying how far that got."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar, copy_context
from functools import cached_property, partial
from itertools import accumulate, chain, repeat
from operator import length_hint
from typing import Any

import numpy as np

from gradstep.core.engine.calls.native_table import Table, table_of
from gradstep.core.engine.calls.split_calls import Split, one_blas_thread

Call = Callable[[], Any]
Runner = Callable[[], tuple[int, Exception | None]]  # see run_through


def do_nothing() -> None:
    """The call of a step that computes nothing."""


def _ignoring_errors() -> tuple[ContextVar[Any], Any]:
    """Where NumPy keeps what it says of NaN and infinities, and there: nothing."""
    context = copy_context()
    context.run(np.seterr, all="ignore")
    now = copy_context()
    (setting,) = (each for each in context if context[each] is not now.get(each))
    return setting, context[setting]


_SETTING, _IGNORING = _ignoring_errors()


def run_through(calls: Sequence[Call]) -> tuple[int, Exception | None]:
    """Make the calls; how many of them are done then, and what stopped them early. There is no
    test per call: where a failure came from is read off the iterator.

    NumPy does not warn of NaN and infinities, which are data here; to say so takes a tenth of the
    time of `np.errstate`, which would be that of four small operations. All else that the caller's
    context says holds: where text goes, what cancels."""
    left, before = iter(calls), _SETTING.set(_IGNORING)
    try:
        for call in left:
            call()
    except Exception as error:
        return len(calls) - 1 - length_hint(left), error
    finally:
        _SETTING.reset(before)
    return len(calls), None


def _run_table(table: Table, first: int, last: int) -> tuple[int, Exception | None]:
    """`run_through` of some rows."""
    before = _SETTING.set(_IGNORING)
    try:
        return table.run(first, last)
    finally:
        _SETTING.reset(before)


def _with_parts(run: Runner) -> tuple[int, Exception | None]:
    """The same of calls some of which are split: the parts have the processors, and not BLAS."""
    with one_blas_thread():
        return run()


def _runner(run: Runner, is_split: bool) -> Runner:
    """is_split: whether any of all calls is, also where `run` makes others of them: a product is to
    have the same bits in a step as in a whole run."""
    return partial(_with_parts, run) if is_split else run


def _is_split(calls: Iterable[Call]) -> bool:
    return Split in map(type, calls)  # in C


def pack_calls(calls: Iterable[Call]) -> list[Call]:
    """The same calls, made anew one after another, so that they lie in memory in the order in which
    they run. Of a thousand small ones that takes a tenth off."""
    return [
        partial(call.func, *call.args, **call.keywords) if type(call) is partial else call
        for call in calls
    ]


def _slice_of(calls: Sequence[Call], first: int, last: int) -> Runner:
    every = (first, last) == (0, len(calls))
    return partial(run_through, calls if every else calls[first:last])


class CallRun:
    """Calls that are made again and again, as fast as there are means to. calls: what they are;
    all: what makes them all."""

    def __init__(self, calls: Sequence[Call]) -> None:
        self._is_split = _is_split(calls)
        self._table: Table | None = table_of(calls)
        self.calls = calls if self._table is not None else pack_calls(calls)
        self.all = self.between(0, len(calls))

    def between(self, first: int, last: int) -> Runner:
        """What makes calls `first` to `last`."""
        if self._table is None:
            return _runner(_slice_of(self.calls, first, last), self._is_split)
        return _runner(partial(_run_table, self._table, first, last), self._is_split)

    def each(self) -> Sequence[Call]:
        """What makes them one by one."""
        if self._table is None:
            return self.calls
        return [partial(self._table.call, row) for row in range(len(self.calls))]


class StepCalls:
    """The calls that each step of a plan consists of. is_split: whether any of them is, where that
    is known."""

    def __init__(
        self, by_step: Sequence[tuple[Call, ...]] = (), is_split: bool | None = None
    ) -> None:
        self.by_step = by_step
        self._again: CallRun | None = None
        if is_split is not None:
            self.__dict__["is_split"] = is_split

    @cached_property
    def _calls(self) -> list[Call]:
        return [*chain.from_iterable(self.by_step)]

    @cached_property
    def _starts(self) -> Sequence[int]:
        """Of each step, and where all end."""
        return array("q", accumulate(map(len, self.by_step), initial=0))

    def __iter__(self) -> Iterator[tuple[int, Call]]:
        """The step of each call, and the call."""
        return zip(self._steps(), self._calls, strict=True)

    def _steps(self) -> Iterator[int]:
        for step, (start, stop) in enumerate(zip(self._starts, self._starts[1:], strict=False)):
            yield from repeat(step, stop - start)

    def as_made(self) -> Iterator[tuple[int, Call]]:
        """The step of each call, and the call as a run makes it."""
        again = self._calls if self._again is None else self._again.each()
        return zip(self._steps(), again, strict=True)

    def pack(self) -> None:
        """Make running faster, for the time of some runs."""
        if self._again is None:
            self._again = CallRun(self._calls)

    def between(self, start: int, stop: int) -> Runner:
        """What makes those of steps `start` to `stop`."""
        if self._again is not None:
            return self._again.between(self._starts[start], self._starts[stop])
        calls = [*chain.from_iterable(self.by_step[start:stop])]  # after an edit few of many
        return _runner(partial(run_through, calls), self.is_split)

    @cached_property
    def is_split(self) -> bool:
        """Whether any call is."""
        return _is_split(chain.from_iterable(self.by_step))

    @property
    def is_unsplit(self) -> bool:
        """Whether it is known that none is."""
        return self.__dict__.get("is_split") is False

    def step_at(self, start: int, done: int) -> int:
        """The step that comes next when so many of the calls from step `start` on are done."""
        return bisect_right(self._starts, self._starts[start] + done) - 1
