"""Many small cases in one test: a test of its own for each would cost more than what it checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest

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


def at_once(
    cases: Iterable[_T], name: Callable[[_T], str] = str
) -> Callable[[Check[_T]], Callable[[str], None]]:
    """Makes one test of what is done with one case."""
    return on_each(cases, name, lambda case: "all")


def on_each_op(definitions: Iterable[OpDef]) -> Callable[[Check[OpDef]], Callable[[str], None]]:
    """A test a subject, all of whose ops are checked."""
    return on_each(definitions, lambda op: op.type, lambda op: op.subject)
