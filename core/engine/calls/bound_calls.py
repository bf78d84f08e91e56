"""One step as a bound call without arguments, writing into the places laid out for its results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np

from gradstep.core.engine.backend import Backend
from gradstep.core.engine.calls.bfloat16_kernels import any_bfloat16
from gradstep.core.engine.calls.call_loop import Call, CallRun, do_nothing
from gradstep.core.engine.calls.liveness_guards import Choice, Merging
from gradstep.core.engine.calls.op_evaluation import (
    Functions,
    as_tuple,
    bind,
    bind_out,
    host_inputs,
    takes_out,
)
from gradstep.core.engine.calls.scratch_memory import Scratch
from gradstep.core.engine.calls.split_calls import Split
from gradstep.core.engine.plan.steps import Step
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.host_arrays import home
from gradstep.core.ops.declare.parted_calls import Parts
from gradstep.core.ops.declare.table import lookup
from gradstep.core.ops.numerics.adjacent_arrays import view_adjacent
from gradstep.core.ops.state.opaque_state import OpaqueState
from gradstep.core.thread_pool import thread_count


@dataclass(frozen=True)
class Given:
    """What a kernel is given in place of what lies in its inputs' cells. known: number of an input
    that it reads on the host -> what that always is; moved: numbers of those that lie on the host
    and are to be `put` on the device."""

    known: Mapping[int, np.ndarray]
    moved: frozenset[int]
    put: Callable[[np.ndarray], Any]

    def __bool__(self) -> bool:
        return bool(self.known or self.moved)

    def of(self, inputs: Sequence[Any]) -> list[Any]:
        return [
            self.known[n] if n in self.known else self.put(x) if n in self.moved else x
            for n, x in enumerate(inputs)
        ]


# NumPy 2.4 deprecates a positional `out` for these.
_OUT_BY_KEYWORD = (np.maximum, np.minimum)


def failing_call(error: GradstepError) -> Call:
    """The call of a step that cannot run."""
    return partial(_fail, error)


def bind_call(
    backend: Backend,
    step: Step,
    functions: Functions,
    cells: list[Any],
    fixed: Sequence[int],
    room: Scratch,
    given: Given | None = None,
    short: Callable[[], bool] = lambda: True,
) -> Call:
    """The call that runs `step`.

    cells: value -> its array; fixed: whether that array stays the same object in every run (a
    place in the arena, a feed, a constant). Others are replaced by each run's result. given:
    inputs that it is not given as they lie in their cells. short: whether there is bfloat16 among
    what it reads and writes, asked where the arrays do not tell.
    """
    in_place = all(fixed[i] for i in step.reads) and all(fixed[i] for i in step.writes)
    if step.guard is not None and step.guard.inputs:
        choice = Choice(step.guard.inputs, cells)
        if in_place:
            return Merging(choice, [cells[i] for i in step.reads], [cells[i] for i in step.writes])
        return partial(_by_reference, _keep(backend.xp, step), choice, cells, step, fixed)
    if in_place and step.writes:
        if step.times > 1:
            return at_once(backend, step, functions, cells, room)
        inputs = [cells[i] for i in step.reads]
        if given is not None:
            inputs = given.of(inputs)
        places = [cells[i] for i in step.writes]
        return into_places(backend, step, functions, inputs, places, room)
    kernel = bind(backend, step.op, functions, short())
    if given:
        kernel = partial(_with_given, kernel, given)
    return partial(_by_reference, _keep(backend.xp, step), kernel, cells, step, fixed)


def _with_given(kernel: Callable[..., Any], given: Given, *inputs: Any) -> Any:
    return kernel(*given.of(inputs))


def into_places(
    backend: Backend,
    step: Step,
    functions: Functions,
    inputs: list[Any],
    places: list[Any],
    room: Scratch,
) -> Call:
    """The call that computes `step` from these arrays into these."""
    out = places[0] if len(places) == 1 else tuple(places)
    short = any_bfloat16(inputs) or any_bfloat16(places)  # of which only the plain kernel knows
    if backend.xp is np:
        several = bind_moves(backend, step.op, inputs, places)
        if several is None and not short and takes_out(backend, step.op):
            several = bind_calls(step.op, inputs, out, room)
        if several is not None:
            return several
    direct = None if short else bind_out(backend, step.op, functions)
    if isinstance(direct, np.ufunc) and direct not in _OUT_BY_KEYWORD:
        return _made(direct, [*inputs, out])  # a third faster than by keyword, on small arrays
    if direct is not None:
        return partial(direct, *inputs, out=out)
    kernel = bind(backend, step.op, functions)
    if len(places) == 1:
        return partial(_copy_one, kernel, inputs, out)
    return partial(_copy_all, kernel, inputs, places)


def at_once(
    backend: Backend, step: Step, functions: Functions, cells: list[Any], room: Scratch
) -> Call:
    """The calls that do the like operations of `step`: all at once on vectors, where their
    results lie side by side, else one after the other."""
    parts = [
        ([cells[v] for v in reads], [cells[v] for v in writes]) for reads, writes in step.parts
    ]
    places = [view_adjacent(column) for column in zip(*(p for _, p in parts), strict=True)]
    if any(place is None for place in places):
        return Several([into_places(backend, step, functions, *part, room) for part in parts])
    rows = [_row(backend, column) for column in zip(*(p for p, _ in parts), strict=True)]
    work = into_places(backend, step, functions, [x for x, _ in rows], places, room)
    return Several([*(call for _, call in rows), work])


def _row(backend: Backend, arrays: Sequence[Any]) -> tuple[Any, Call]:
    """One vector of all the arrays, and the call that fills it where they lie apart; where all are
    one number, that."""
    first = arrays[0]
    if first.ndim == 0 and all(x is first for x in arrays):
        return first, do_nothing
    there = view_adjacent(arrays)
    if there is not None:
        return there, do_nothing
    copy = backend.empty((sum(x.size for x in arrays),), first.dtype)
    fill = partial(np.concatenate, [x.reshape(-1) for x in arrays], 0, copy)
    if any(x.flags.writeable for x in arrays):
        return copy, fill
    fill()
    copy.flags.writeable = False
    return copy, do_nothing


class Several:
    """Several calls as one."""

    __slots__ = ("calls",)

    def __init__(self, calls: Sequence[Call]) -> None:
        self.calls = list(calls)

    def __call__(self) -> None:
        for call in self.calls:
            call()


def parts(call: Call) -> Iterator[Call]:
    """What a call consists of: nothing, itself, or several."""
    if isinstance(call, Several):
        for part in call.calls:
            yield from parts(part)
    elif call is not do_nothing:
        yield call


def bind_calls(op: Operation, inputs: list[Any], out: Any, room: Scratch) -> Several | None:
    """The calls that `op` is made of, where it says them and no input that may change, and that
    they depend on, is read on the host. (An input that is not there comes from a step that
    fails.)"""
    definition = lookup(op.type, op.name)
    if definition.kernel.calls is None or any(x is None for x in inputs):
        return None
    if any(inputs[i].flags.writeable for i in host_inputs(definition, len(inputs))):
        return None
    attrs = definition.keywords(op, {"op": op})
    listed = definition.kernel.calls(np, *inputs, out=out, room=room.vacated(), **attrs)
    return Several([_bound(one, room) for one in listed])


def _bound(one: tuple[Any, ...] | Parts, room: Scratch) -> Call:
    """What a kernel lists, as a call."""
    if not isinstance(one, Parts):
        return _made(one[0], [*one[1:]])
    count = len(one.parts)
    shares = _shares(count, thread_count())
    ends = [count * i // shares for i in range(shares + 1)]
    several = (
        one.listed(one.parts[start:stop], room.share(number))
        for number, (start, stop) in enumerate(pairwise(ends))
    )
    return Split([Share([_made(call[0], [*call[1:]]) for call in calls]) for calls in several])


def _shares(parts: int, threads: int) -> int:
    """How many shares so many threads take. With more than one each, which one takes when it has
    done another, nobody waits long for a thread that came late; but each share has memory of its
    own, which is in the cache from its second part on."""
    several = min(4 * threads, 16, parts // 4) if threads > 1 else 1
    return min(max(threads, several), parts)


class Share:
    """Calls that one thread makes, of those that several threads share."""

    def __init__(self, calls: Sequence[Call]) -> None:
        self.calls = calls

    @cached_property
    def _run(self) -> CallRun:
        return CallRun(self.calls)

    def __call__(self) -> None:
        _, error = self._run.all()
        if error is not None:
            raise error


def bind_moves(
    backend: Backend, op: Operation, inputs: list[Any], places: list[Any]
) -> Several | None:
    """The copies that `op` is made of, if it takes a tensor apart or puts tensors together: from
    views of the one to the others, which are always the same ones if no input that says where they
    are may change."""
    definition = lookup(op.type, op.name)
    memory, plain = definition.memory, definition.kernel.plain
    if plain is None or not (memory.slices or memory.pieces) or any(x is None for x in inputs):
        return None
    on_host = host_inputs(definition, len(inputs))
    if any(inputs[i].flags.writeable for i in on_host):
        return None
    if backend.adapt(definition, plain, op) is not plain:
        return None
    sources: Sequence[Any] = inputs
    targets: Sequence[Any] = places
    if memory.pieces is not None:
        targets = memory.pieces(places[0], *inputs, **definition.keywords(op))
    else:
        sources = as_tuple(bind(backend, op)(*inputs))
    pairs = [(x, to) for x, to in zip(sources, targets, strict=True) if to is not None]
    owners = {id(_owner(x)) for x in inputs}
    if not all(_follows(x, owners) and x.shape == to.shape for x, to in pairs):
        return None
    return Several([partial(np.copyto, to, x) for x, to in pairs])


def _follows(x: Any, owners: set[int]) -> bool:
    """Whether `x` lies in memory of one of the owners (their ids), and is no copy, as a single
    number is."""
    return isinstance(x, np.ndarray) and id(_owner(x)) in owners


def _owner(x: Any) -> Any:
    """Whose memory an array lies in."""
    while getattr(x, "base", None) is not None:
        x = x.base
    return x


def _made(function: Callable[..., Any], arguments: list[Any]) -> Call:
    """The call of `function`. What has one element is of rank 0 for NumPy's elementwise functions,
    which then are three times as fast. (None comes from a step that fails.)"""
    if isinstance(function, np.ufunc) and function.signature is None:
        arguments = [_as_scalar(x) for x in arguments]
    return partial(function, *arguments)


def _as_scalar(x: Any) -> Any:
    return x.reshape(()) if x is not None and x.size == 1 and x.ndim else x


def _fail(error: GradstepError) -> NoReturn:
    raise error.with_traceback(None)


def _copy_one(kernel: Callable[..., Any], inputs: list[Any], place: Any) -> None:
    result = kernel(*inputs)
    if getattr(result, "shape", None) != place.shape:  # a tuple has none
        (result,) = _expected([place], as_tuple(result))
    place[...] = result


def _copy_all(kernel: Callable[..., Any], inputs: list[Any], places: list[Any]) -> None:
    for place, result in zip(places, _expected(places, as_tuple(kernel(*inputs))), strict=True):
        place[...] = result


def _expected(places: Sequence[Any], results: tuple[Any, ...]) -> tuple[Any, ...]:
    """`results` if their number and shapes are those that were promised."""
    have, want = [np.shape(r) for r in results], [p.shape for p in places]
    if have == want:
        return results
    raise GradstepError(
        f"results of shapes {_listed(have)} where {_listed(want)} were declared",
        kind="InvalidArgumentError",
        hint="correct the declared shapes, or what the function returns",
    )


def _listed(shapes: Sequence[tuple[int, ...]]) -> str:
    return ", ".join(str(list(shape)) for shape in shapes)


def _by_reference(
    keep: Callable[[Any, list[Any]], Any],
    kernel: Callable[..., Any],
    cells: list[Any],
    step: Step,
    fixed: Sequence[int],
) -> None:
    inputs = [cells[i] for i in step.reads]
    results = as_tuple(kernel(*inputs))
    if len(results) != len(step.writes):
        raise GradstepError(
            f"{len(results)} results where {len(step.writes)} were declared",
            kind="InvalidArgumentError",
        )
    for index, result in zip(step.writes, results, strict=True):
        if fixed[index]:
            if getattr(result, "shape", None) != cells[index].shape:
                _expected([cells[index]], (result,))
            cells[index][...] = result
        else:
            cells[index] = result if isinstance(result, OpaqueState) else keep(result, inputs)


def _keep(xp: Any, step: Step) -> Callable[[Any, list[Any]], Any]:
    """What is kept of a result: a copy, as it may be a view of the arena. What a pure kernel of
    NumPy's has made anew is kept itself; a user's function may go on using its result."""

    def copied(result: Any, inputs: list[Any]) -> Any:
        return home(xp, result).array(result)

    def kept(result: Any, inputs: list[Any]) -> Any:
        anew = type(result) is np.ndarray and result.base is None
        return result if anew and all(result is not x for x in inputs) else copied(result, inputs)

    pure = step.definition is not None and step.definition.is_pure
    return kept if xp is np and pure else copied
