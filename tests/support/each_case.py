"""Many small cases in one test: a test of its own for each would cost more than what it checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

import pytest
from _pytest.mark import ParameterSet

from gradstep.core.ops.declare.table import OpDef

_T = TypeVar("_T")
Check = Callable[[_T], object]


def check_each(cases: Iterable[_T], check: Check[_T], name: Callable[[_T], str] = str) -> None:
    """All of them are checked, whatever fails. Raises an ExceptionGroup, which has the names of
    those that failed and what each of them raised."""
    failed: dict[str, Exception] = {}
    for case in cases:
        try:
            check(case)
        except Exception as error:
            error.add_note(f"in the case {name(case)}")
            failed[name(case)] = error
    if failed:
        raise ExceptionGroup(f"{len(failed)} failed: {', '.join(failed)}", [*failed.values()])


def on_each(
    cases: Iterable[_T], name: Callable[[_T], str] = str, part: Callable[[_T], str] = str
) -> Callable[[Check[_T]], Callable[[str], None]]:
    """Makes a test of what is done with one case: one with all cases of a part, for each part."""
    parts: dict[str, list[_T]] = {}
    for case in cases:
        parts.setdefault(part(case), []).append(case)

    def decorate(check: Check[_T]) -> Callable[[str], None]:
        def test(part: str) -> None:
            check_each(parts[part], check, name)

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        test.__module__, test.__qualname__ = check.__module__, check.__qualname__
        return pytest.mark.parametrize("part", [*parts], scope="module")(test)

    return decorate


def on_each_op(definitions: Iterable[OpDef]) -> Callable[[Check[OpDef]], Callable[[str], None]]:
    """A test a subject, all of whose ops are checked."""
    return on_each(definitions, lambda op: op.type, lambda op: op.subject)


def each_of(
    names: str | Sequence[str],
    rows: Iterable[Any],
    ids: Sequence[str] | Callable[[Any], str] = lambda value: str(value)[:60],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As pytest.mark.parametrize, but one test. What fixtures give is the same for all cases."""
    single = isinstance(names, str) and "," not in names
    wanted = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]
    cases = []
    for number, row in enumerate(rows):
        case = ParameterSet.extract_from(row, force_tuple=single)
        text = "-".join(map(ids, case.values)) if callable(ids) else ids[number]
        cases.append((f"{number}: {case.id or text}", case.values))

    def decorate(check: Callable[..., None]) -> Callable[..., None]:
        own = signature(check)
        others = [given for name, given in own.parameters.items() if name not in wanted]

        @wraps(check)
        def test(**fixtures: Any) -> None:
            def one(case: tuple[str, Sequence[Any]]) -> None:
                check(**dict(zip(wanted, case[1], strict=True)), **fixtures)

            check_each(cases, one, lambda case: case[0])

        test.__signature__ = own.replace(parameters=others)  # type: ignore[attr-defined]
        return test

    return decorate
