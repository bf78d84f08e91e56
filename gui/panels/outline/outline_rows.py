"""What the outline says: the document's operations by role, scopes nested."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, filterfalse

from gradstep.core.document.document import Document
from gradstep.core.document.requests import whole_request
from gradstep.core.graph.carry_over import find_moved, known_changes
from gradstep.core.graph.changes import Changes
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.ops.typing.flatten_loops import flatten_loops
from gradstep.core.ops.typing.inference import Inference
from gradstep.core.persistent.sequence_places import common_ends
from gradstep.core.protocol.messages import ProgramInfo
from gradstep.core.protocol.vocabulary import PhaseName
from gradstep.gui.look.theme import Tone
from gradstep.gui.model.problem_rows import faults
from gradstep.gui.model.program_index import ProgramIndex
from gradstep.gui.panels.outline.scope_split import (
    Split,
    scope_of,
    split,
    split_again,
    with_names,
)
from gradstep.gui.panels.widgets.row_list import PlainRows, Row, RowList

INPUTS = frozenset({"Placeholder", "PlaceholderV2", "PlaceholderWithDefault"})
VARIABLES = frozenset({"Variable", "VariableV2", "VarHandleOp"})
# What differentiation and the optimizer add, closed at first -> the phase of its steps.
_ADDED: Mapping[str, PhaseName] = {"gradients": "backward", "updates": "update"}


class ScopeRows(RowList):
    """What is in a scope: the scopes in it, then its operations. Each row is made when it is looked
    at."""

    def __init__(
        self,
        key: str,
        names: Sequence[str],
        describe: Callable[[str], Row],
        inside: str = "",
        before: ScopeRows | None = None,
    ) -> None:
        """key: of the scope's row. names: of all operations in it. describe: makes the row of one.
        inside: the scope, with its slash, although operations of other names may be in it.
        before: those of the same scope before an edit."""
        self._key, self._members, self._describe, self._inside = key, names, describe, inside
        if before is not None and "_split" not in before.__dict__:
            before = before._before  # nobody has asked for it yet
        self._before: ScopeRows | None = before
        self._below: dict[str, ScopeRows] = {}

    def __bool__(self) -> bool:
        return bool(self._members)

    def __len__(self) -> int:
        return len(self._scopes) + len(self._names)

    @cached_property
    def keys(self) -> Sequence[Hashable]:
        return [*((scope,) for scope in self._scopes), *self._names]

    @property
    def groups(self) -> Sequence[int]:
        return range(len(self._scopes))

    def is_group(self, place: int) -> bool:
        return place < len(self._scopes)

    def make(self, place: int) -> Row:
        if place >= len(self._scopes):
            return self._describe(self._names[place - len(self._scopes)])
        scope, names = self._scopes[place], self._split[self._scopes[place]]
        label = scope.rpartition("/")[2]
        key = f"{self._key}/{label}"
        rows = self._below.get(scope)
        if rows is None or rows._members != names:
            rows = ScopeRows(key, names, self._describe, f"{scope}/", rows)
            self._below[scope] = rows
        return Row(key, label, str(len(names)), open=False, children=rows)

    def holding(self, names: Collection[str]) -> Iterator[tuple[int, Collection[str]]]:
        found: dict[int, list[str]] = {}
        for name in names:
            scope = scope_of(name, self._inside)
            place = self._places.get((scope,) if scope else name)
            if place is not None:
                found.setdefault(place, []).append(name)
        for place in sorted(found):
            yield place, found[place] if self.is_group(place) else ()

    @cached_property
    def _split(self) -> Split:
        """The operations by the scope right in this one; of those in none ""."""
        before, self._before = self._before, None
        if before is not None and "_split" in before.__dict__:
            known = before._split, before._members, self._members, self._inside
            if (found := split_again(*known)) is not None:
                self._below = before._below
                return found
        return split(self._members, self._inside)

    @cached_property
    def _scopes(self) -> list[str]:
        return [scope for scope in self._split if scope]

    @property
    def _names(self) -> list[str]:
        """Of the operations in no scope."""
        return self._split.get("", [])

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        return {key: place for place, key in enumerate(self.keys)}


class Groups(PlainRows):
    """The groups of the outline. titles_of: those in which an operation may be."""

    def __init__(self, rows: Sequence[Row], titles_of: Callable[[str], Collection[str]]) -> None:
        super().__init__(rows)
        self._titles_of = titles_of

    def holding(self, names: Collection[str]) -> Iterator[tuple[int, Collection[str]]]:
        found: dict[str, list[str]] = {}
        for name in names:
            for title in self._titles_of(name):
                found.setdefault(title, []).append(name)
        for place, row in enumerate(self):
            if row.label in found:
                yield place, found[row.label]


class Outline:
    """The rows of a document as it is edited: those of a group stay as long as the same operations
    are in it, and say of each what is known by then."""

    def __init__(self) -> None:
        self._groups: dict[str, tuple[Sequence[str], ScopeRows]] = {}
        self._roles: tuple[Graph, Collection[str], dict[str, list[str]]] | None = None
        self._added: dict[str, tuple[Graph, Sequence[str], Sequence[str]]] = {}

    def rows(
        self,
        document: Document,
        inference: Inference,
        program: ProgramInfo | None,
        words: str = "",
        index: ProgramIndex | None = None,
    ) -> Groups:
        """Groups in the order inputs, variables, network, loss, gradients, updates; empty ones are
        left out. With `words`, only operations whose name or type contains each of them. index: of
        the program, where somebody has it."""
        self._inference, self._program = inference, program
        self._index = index or ProgramIndex(program)
        self._loss = _derivative_of(document)
        self._graph = flatten_loops(document.graph)
        self._asked = frozenset(ref.op for ref in whole_request(document).of)
        self._problems = dict(reversed(faults(inference.problems, program)))
        found = {**self._find_roles(), **self._find_added(document.graph)}
        if words:
            found = {title: _matching(words, names, self._type) for title, names in found.items()}
        rows = [self._group(title, found[title], bool(words)) for title in found if found[title]]
        return Groups(rows, self._titles)

    def _find_roles(self) -> Mapping[str, Sequence[str]]:
        known, graph, asked = self._roles, self._graph, self._asked
        if known is None or known[1] != asked or not _have_same_roles(known[0], graph):
            roles = None
            if known is not None and known[1] == asked:
                roles = _by_role_again(known[2], known[0], graph, asked)
            known = self._roles = graph, asked, roles or _by_role(graph, asked)
        return known[2]

    def _find_added(self, drawn: Graph) -> Mapping[str, Sequence[str]]:
        """The operations that differentiation and the optimizer added."""
        for title, phase in _ADDED.items():
            names = self._index.by_phase.get(phase, ())
            known = self._added.get(title)
            if known is None or known[1] is not names or not _have_same_names(known[0], drawn):
                apart = self._stay_apart(title, drawn, names)
                added = names if apart else _without(names, drawn.operations)
                self._added[title] = drawn, names, added
        return {title: found for title, (_, _, found) in self._added.items()}

    def _stay_apart(self, title: str, drawn: Graph, names: Sequence[str]) -> bool:
        """Whether none of the names is of an operation that is drawn, as none of the last ones was;
        by a look at what came since."""
        before, then, added = self._added.get(title, (None, (), ()))
        if before is None or then is not added:
            return False
        changes = Changes() if drawn is before else known_changes(before, drawn)
        if changes is None:
            return False
        first, last = common_ends(then, names)
        came, steps = names[first : len(names) - last], self._index.steps
        phases = (steps[name].phase for name in changes.added if name in steps)
        return drawn.operations.keys().isdisjoint(came) and _ADDED[title] not in phases

    def _titles(self, name: str) -> Collection[str]:
        """The groups in which an operation may be."""
        if name not in self._graph:
            return _ADDED if name in self._index.steps else ()
        return (_role(self._graph[name], self._asked),)

    def _group(self, title: str, names: Sequence[str], searched: bool) -> Row:
        """The row of all with one role. searched: it is open."""
        before, rows = self._groups.get(title, (None, None))
        if rows is None or before != names:
            added = title in _ADDED
            describe = self._describe_added if added else self._describe
            inside = "gradients/" if title == "gradients" else ""
            rows = ScopeRows(f"scope:{title}", names, describe, inside, rows)
            self._groups[title] = names, rows
        is_open = searched or title not in _ADDED
        count = str(len(names))
        return Row(f"group:{title}", title, count, heading=True, open=is_open, children=rows)

    def _describe(self, name: str) -> Row:
        """The row of an operation of the document. Rows that an edit, or another document, took
        away are made, too: a tree that has them asks what was selected in it."""
        op = self._graph.operations.get(name)
        if op is None:
            return self._describe_added(name)
        detail, tone = _detail(op, self._inference, self._program, self._loss)
        problem = self._problems.get(name, "")
        return Row(f"op:{name}", _leaf(name), detail, tone, name, problem=problem, tip=name)

    def _describe_added(self, name: str) -> Row:
        """The row of what differentiation or an optimizer added."""
        return Row(f"op:{name}", _leaf(name), self._type(name), name=name)

    def _type(self, name: str) -> str:
        if name in self._graph:
            return self._graph[name].type
        step = self._index.steps.get(name)
        return "" if step is None else step.type


def outline_rows(
    document: Document, inference: Inference, program: ProgramInfo | None, words: str = ""
) -> Groups:
    """The rows of a document by itself."""
    return Outline().rows(document, inference, program, words)


def _role(op: Operation, asked: Collection[str]) -> str:
    if op.name in asked:
        return "loss"
    if op.type in INPUTS:
        return "inputs"
    return "variables" if op.type in VARIABLES else "network"


def _by_role(graph: Graph, asked: Collection[str]) -> dict[str, list[str]]:
    """The operations of each role that there are; what is asked for has no other."""
    loss = {*filter(graph.operations.__contains__, asked)}
    inputs, variables = ({*graph.of_types(types)} - loss for types in (INPUTS, VARIABLES))
    known = loss | inputs | variables
    return {
        "inputs": [*filter(inputs.__contains__, graph.operations)],
        "variables": [*filter(variables.__contains__, graph.operations)],
        "network": [*filterfalse(known.__contains__, graph.operations)],
        "loss": [*filter(loss.__contains__, graph.operations)],
    }


def _by_role_again(
    known: Split, before: Graph, graph: Graph, asked: Collection[str]
) -> Split | None:
    """`_by_role` of a graph in which few operations are others, in the places of what was there
    before, which has the roles `known`, and of the same roles; else None."""
    changes = known_changes(before, graph)
    moved = None if changes is None else find_moved(before, graph)
    if changes is None or moved is None or [*moved.gone] != [place for _, place in moved.come]:
        return None
    old, new, then, now = before.operations, graph.operations, before.names, graph.names
    others = [(old[then[place]], new[now[place]]) for place in moved.gone]
    same = ((old[name], new[name]) for name in changes.changed)
    if any(_role(was, asked) != _role(now, asked) for was, now in chain(others, same)):
        return None
    return with_names(known, [(_role(now, asked), was.name, now.name) for was, now in others])


def _have_same_names(one: Graph, other: Graph) -> bool:
    """Whether two graphs have operations of the same names in the same order."""
    known = known_changes(one, other)
    if known is not None and (known.added or known.removed):
        return False
    return one is other or one.names == other.names


def _have_same_roles(one: Graph, other: Graph) -> bool:
    """Whether each operation of two graphs is of one role in both."""
    types = INPUTS | VARIABLES
    same = all(one.by_type.get(type) == other.by_type.get(type) for type in types)
    return same and _have_same_names(one, other)


def _without(names: Sequence[str], others: Mapping[str, object]) -> Sequence[str]:
    """Those of the names that are no others."""
    if others.keys().isdisjoint(names):  # nearly always so, and found in C
        return names
    return [*filterfalse(others.__contains__, names)]


def _matching(words: str, names: Sequence[str], type_of: Callable[[str], str]) -> list[str]:
    parts = words.lower().split()
    if not parts:
        return [*names]
    said = ((name, f"{name} {type_of(name)}".lower()) for name in names)
    return [name for name, text in said if all(part in text for part in parts)]


def _leaf(name: str) -> str:
    return name.rpartition("/")[2]


def _derivative_of(document: Document) -> str:
    """The upper half of dL/dc: L for one loss, the sum's sign for several."""
    return "ΣL" if len(document.request.of) > 1 else "L"


def _detail(
    op: Operation, inference: Inference, program: ProgramInfo | None, loss: str
) -> tuple[str, Tone]:
    if op.type in VARIABLES and program is not None and f"{op.name}:0" in program.gradients:
        return f"d{loss}/d{_leaf(op.name)}", "backward"
    if op.type in VARIABLES or op.type in INPUTS:
        known = inference.types.get(TensorRef(op.name))
        return ("" if known is None else str(known.shape)), "muted"
    if program is not None and op.name in program.custom:
        return op.type, "override"
    return op.type, "muted"
