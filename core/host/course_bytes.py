"""How each session came to where it stands, as bytes that a new engine can follow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
import numpy as np

from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.concurrency.session_registry import FIRST
from gradstep.core.debug.history.branch_record import (
    FIRST_BRANCH,
    Branch,
    BranchEdit,
    ThreadPlace,
    Turn,
)
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


class _Place(msgspec.Struct, array_like=True):
    thread: str
    place: list[tuple[int, int]]
    ops: list[str]


class _Turn(msgspec.Struct, array_like=True):
    thread: str
    place: list[tuple[int, int]]
    ops: list[str]
    tried: bool = False
    given: dict[str, _Array] | None = None
    words: str = ""
    assigned: dict[str, _Array] | None = None
    edit: int = -1


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
    left: list[_Place] = []
    stands: list[_Place] = []
    thread: str = ""
    turns: list[_Turn] = []


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
    missed: _Course | None = None


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
        branches=[_branch_told(branch, given, edits) for branch in course.branches],
        edits=[_Edit(e.run, e.step, e.op, e.kind, [*e.names], e.words) for e in edits],
        branch=course.branch,
        missed=None if course.missed is None else _taken_apart(course.missed),
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
        branches=tuple(_branch(branch, given, edits) for branch in course.branches),
        branch=course.branch,
        missed=None if course.missed is None else _put_together(course.missed),
    )


def _branch_told(
    b: Branch, given: Mapping[Assignment, int], edits: Mapping[BranchEdit, int]
) -> _Branch:
    return _Branch(
        *(b.name, b.parent, b.run, b.step, b.op),
        [given[each] for each in b.changes],
        *(b.inherited, b.place),
        edits=[edits[each] for each in b.edits],
        edits_inherited=b.edits_inherited,
        inside=[*b.inside],
        left=_places_told(b.left),
        stands=_places_told(b.stands),
        thread=b.thread,
        turns=[_turn_told(turn, edits) for turn in b.turns],
    )


def _branch(b: _Branch, given: Sequence[Assignment], edits: Sequence[BranchEdit]) -> Branch:
    return Branch(
        *(b.name, b.parent, b.run, b.step, b.op),
        tuple(given[number] for number in b.changes),
        *(b.inherited, b.place),
        edits=tuple(edits[number] for number in b.edits),
        edits_inherited=b.edits_inherited,
        inside=(*b.inside,),
        left=_places(b.left),
        stands=_places(b.stands),
        thread=b.thread,
        turns=tuple(_turn(turn, edits) for turn in b.turns),
    )


def _places_told(places: Iterable[ThreadPlace]) -> list[_Place]:
    return [_Place(each.thread, [*each.place], [*each.ops]) for each in places]


def _places(places: Iterable[_Place]) -> tuple[ThreadPlace, ...]:
    return tuple(ThreadPlace(each.thread, (*each.place,), (*each.ops,)) for each in places)


def _turn_told(turn: Turn, edits: Mapping[BranchEdit, int]) -> _Turn:
    given, assigned = (None if v is None else _arrays(v) for v in (turn.given, turn.assigned))
    edit = -1 if turn.edit is None else edits[turn.edit]
    where = turn.thread, [*turn.place], [*turn.ops]
    return _Turn(*where, turn.tried, given, turn.words, assigned, edit)


def _turn(turn: _Turn, edits: Sequence[BranchEdit]) -> Turn:
    given, assigned = (None if v is None else _values(v) for v in (turn.given, turn.assigned))
    edit = None if turn.edit < 0 else edits[turn.edit]
    where = turn.thread, (*turn.place,), (*turn.ops,)
    return Turn(*where, turn.tried, given, turn.words, assigned, edit)


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
