"""How each session came to where it stands, as bytes that a new engine can follow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec
import numpy as np

from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.concurrency.session_registry import FIRST
from gradstep.core.debug.history.branch_record import FIRST_BRANCH, Branch, BranchEdit
from gradstep.core.debug.history.manual_assignments import Assignment
from gradstep.core.debug.motion.loop_place import Place
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.host.session_restore import Course, Courses
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.tensor_bytes import elements, pack

T = TypeVar("T")


class _Array(msgspec.Struct, array_like=True):
    dtype: str
    shape: list[int]
    data: bytes


class _Change(msgspec.Struct, array_like=True):
    run: int
    step: int
    op: str
    values: dict[str, _Array]
    words: str = ""
    inside: list[tuple[int, int, str]] = []


class _Edit(msgspec.Struct, array_like=True):
    run: int
    step: int
    op: str
    kind: str
    names: list[str]
    words: str = ""


class _Branch(msgspec.Struct, array_like=True):
    name: str
    parent: str
    run: int
    step: int
    op: str
    changes: list[int]  # by their numbers: branches have some in common
    inherited: int
    place: tuple[int, int]
    edits: list[int] = []  # by theirs
    edits_inherited: int = 0
    inside: list[tuple[int, int, str]] = []


class _Command(msgspec.Struct, array_like=True):
    """One entry of a history: with a target, values that were given, or breakpoints set."""

    name: str
    target: str = ""
    values: dict[str, _Array] | None = None
    breakpoints: list[Breakpoint] | None = None


class _Course(msgspec.Struct, array_like=True):
    """given: all changes, each once; changes: of the session, by their numbers."""

    run: int
    step: int
    op: str
    inside: list[Place]
    given: list[_Change]
    changes: list[int]
    history: list[_Command]
    branches: list[_Branch] = []
    edits: list[_Edit] = []
    branch: str = FIRST_BRANCH


class _Courses(msgspec.Struct, array_like=True):
    by_name: dict[str, _Course]
    current: str


def written(courses: Courses) -> tuple[Buffer, ...]:
    """The buffer that tells of courses; none where there is the first session alone, and its place
    says all."""
    if [*courses.by_name] == [FIRST] and courses.by_name[FIRST].is_place:
        return ()
    record = _Courses({n: _taken_apart(c) for n, c in courses.by_name.items()}, courses.current)
    return (msgspec.msgpack.encode(record),)


def read(buffer: Buffer) -> Courses:
    """The inverse of `written`. Raises GradstepError (ProtocolError) for anything else."""
    try:
        record = msgspec.msgpack.decode(buffer, type=_Courses)
        by_name = {name: _put_together(course) for name, course in record.by_name.items()}
    except (msgspec.DecodeError, ValueError, IndexError) as error:
        raise GradstepError(
            f"sessions that cannot be understood: {error}", kind="ProtocolError"
        ) from None
    return Courses(by_name, record.current)


def _taken_apart(course: Course) -> _Course:
    history = [_command(name, what) for name, what in course.history]
    edits = _numbered(each for b in course.branches for each in b.edits)
    lists = [course.changes, *(b.changes for b in course.branches)]
    given = _numbered(each for changes in lists for each in changes)
    return _Course(
        *(course.run, course.step, course.op, [*course.inside]),
        [_Change(c.run, c.step, c.op, _arrays(c.values), c.words, [*c.inside]) for c in given],
        [given[each] for each in course.changes],
        history,
        branches=[
            _Branch(
                *(b.name, b.parent, b.run, b.step, b.op),
                [given[each] for each in b.changes],
                *(b.inherited, b.place),
                [edits[each] for each in b.edits],
                b.edits_inherited,
                [*b.inside],
            )
            for b in course.branches
        ],
        edits=[_Edit(e.run, e.step, e.op, e.kind, [*e.names], e.words) for e in edits],
        branch=course.branch,
    )


def _put_together(course: _Course) -> Course:
    history = tuple((each.name, _what(each)) for each in course.history)
    edits = [BranchEdit(e.run, e.step, e.op, e.kind, (*e.names,), e.words) for e in course.edits]
    given = [
        Assignment(c.run, c.step, c.op, _values(c.values), c.words, (*c.inside,))
        for c in course.given
    ]
    return Course(
        *(course.run, course.step, course.op, tuple(course.inside)),
        tuple(given[number] for number in course.changes),
        history,
        branches=tuple(
            Branch(
                *(b.name, b.parent, b.run, b.step, b.op),
                tuple(given[number] for number in b.changes),
                *(b.inherited, b.place),
                tuple(edits[number] for number in b.edits),
                b.edits_inherited,
                (*b.inside,),
            )
            for b in course.branches
        ),
        branch=course.branch,
    )


def _numbered(things: Iterable[T]) -> dict[T, int]:
    """Each once, in their order, and its number."""
    return {each: number for number, each in enumerate(dict.fromkeys(things))}


def _command(name: str, what: Any) -> _Command:
    if isinstance(what, str):
        return _Command(name, what)
    if isinstance(what, Mapping):
        return _Command(name, values=_arrays(what))
    return _Command(name, breakpoints=[*what])


def _what(command: _Command) -> Any:
    if command.breakpoints is not None:
        return tuple(command.breakpoints)
    return command.target if command.values is None else _values(command.values)


def _arrays(values: Mapping[str, np.ndarray]) -> dict[str, _Array]:
    return {
        name: _Array(DType.of(value.dtype).value, [*value.shape], bytes(pack(value)))
        for name, value in values.items()
    }


def _values(arrays: Mapping[str, _Array]) -> dict[str, np.ndarray]:
    return {
        name: elements(each.data, DType(each.dtype).numpy).reshape(each.shape)
        for name, each in arrays.items()
    }
