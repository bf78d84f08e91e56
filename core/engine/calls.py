"""One step as a bound call without arguments, writing into the places laid out for its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import length_hint
from typing import Any, NoReturn

import numpy as np

from core.engine.backend import Backend
from core.engine.evaluate import Functions, as_tuple, bind, bind_out
from core.engine.resolve import Step
from core.errors import GradstepError
from core.graph.model import Operation
from core.ops.host import home
from core.ops.table import lookup

Call = Callable[[], Any]
# NumPy 2.4 deprecates a positional `out` for these.
_OUT_BY_KEYWORD = (np.maximum, np.minimum)


def run_through(calls: Sequence[Call]) -> tuple[int, Exception | None]:
    """Make the calls; how many of them are done then, and what stopped them early. There is no
    test per call: where a failure came from is read off the iterator. NaN and infinities are
    data, so NumPy's warnings are off."""
    left = iter(calls)
    try:
        with np.errstate(all="ignore"):
            for call in left:
                call()
    except Exception as error:
        return len(calls) - 1 - length_hint(left), error
    return len(calls), None


def nothing() -> None:
    """The call of a step that computes nothing."""


def failing(error: GradstepError) -> Call:
    """The call of a step that cannot run."""
    return partial(_fail, error)


def bound(
    backend: Backend,
    step: Step,
    functions: Functions,
    cells: list[Any],
    fixed: Sequence[bool],
) -> Call:
    """The call that runs `step`.

    cells: value -> its array; fixed: whether that array stays the same object in every run (a
    place in the arena, a feed, a constant). Others are replaced by each run's result.
    """
    if all(fixed[i] for i in step.reads) and step.writes and all(fixed[i] for i in step.writes):
        inputs = [cells[i] for i in step.reads]
        return into_places(backend, step, functions, inputs, [cells[i] for i in step.writes])
    kernel = bind(backend, step.op, functions)
    return partial(_by_reference, backend.xp, kernel, cells, step.reads, step.writes, fixed)


def into_places(
    backend: Backend, step: Step, functions: Functions, inputs: list[Any], places: list[Any]
) -> Call:
    """The call that computes `step` from these arrays into these."""
    out = places[0] if len(places) == 1 else tuple(places)
    direct = bind_out(backend, step.op, functions)
    if direct is not None and backend.xp is np:
        several = bind_calls(backend, step.op, inputs, out)
        if several is not None:
            return several
    if isinstance(direct, np.ufunc) and direct not in _OUT_BY_KEYWORD:
        return partial(direct, *inputs, out)  # a third faster than by keyword, on small arrays
    if direct is not None:
        return partial(direct, *inputs, out=out)
    kernel = bind(backend, step.op, functions)
    if len(places) == 1:
        return partial(_copy_one, kernel, inputs, out)
    return partial(_copy_all, kernel, inputs, places)


class Several:
    """Several calls as one."""

    __slots__ = ("calls",)

    def __init__(self, calls: Sequence[Call]) -> None:
        self.calls = list(calls)

    def __call__(self) -> None:
        for call in self.calls:
            call()


def bind_calls(backend: Backend, op: Operation, inputs: list[Any], out: Any) -> Several | None:
    """The calls that `op` is made of, where it says them."""
    definition = lookup(op.type, op.name)
    if definition.out_calls is None:
        return None
    attrs = definition.keywords(op)
    listed = definition.out_calls(np, *inputs, out=out, room=backend.empty, **attrs)
    return Several([partial(function, *arguments) for function, *arguments in listed])


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
    xp: Any,
    kernel: Callable[..., Any],
    cells: list[Any],
    reads: tuple[int, ...],
    writes: tuple[int, ...],
    fixed: Sequence[bool],
) -> None:
    results = as_tuple(kernel(*[cells[i] for i in reads]))
    if len(results) != len(writes):
        raise GradstepError(
            f"{len(results)} results where {len(writes)} were declared",
            kind="InvalidArgumentError",
        )
    for index, result in zip(writes, results, strict=True):
        if fixed[index]:
            _expected([cells[index]], (result,))
            cells[index][...] = result
        else:
            # a copy: results may be views of the arena
            cells[index] = home(xp, result).array(result)
