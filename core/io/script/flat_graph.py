"""A graph as lines of Python: a name for each tensor, and what the lines of a script need of it."""

from __future__ import annotations

import keyword
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.ops.declare.raw_calls import value_text
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.ops.typing.invalid_operations import broken_operations


class Names:
    """A Python name for each tensor; taken: those that mean something else in the script."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = {*taken, *keyword.kwlist}
        self._of: dict[TensorRef, str] = {}

    def __getitem__(self, ref: TensorRef) -> str:
        if ref not in self._of:
            base = re.sub(r"\W", "_", ref.op if ref.index == 0 else f"{ref.op}_{ref.index}")
            name = base = base if base[:1].isalpha() else f"t{base}"
            number = 1
            while name in self._taken:
                number += 1
                name = f"{base}_{number}"
            self._taken.add(name)
            self._of[ref] = name
        return self._of[ref]


def given_values(document: Document) -> dict[TensorRef, np.ndarray]:
    """What the graph's constants, variables and feeds hold, where the script begins. Raises
    GradstepError where something is fed that is not there."""
    found: dict[TensorRef, np.ndarray] = {}
    for op in document.graph:
        value = op.attrs.get("value") if op.type == "Const" else document.feeds.get(f"{op.name}:0")
        if op.type in VARIABLES:
            value = document.initial.get(op.name)
        if isinstance(value, Constant):
            found[op.output()] = value.array
        elif not op.inputs and op.type in ("Placeholder", *VARIABLES):
            mend = "have its data read" if f"{op.name}:0" in document.columns else "give it a value"
            raise GradstepError(
                f"nothing is known to be in '{op.name}'",
                kind="ValueError",
                node=op.name,
                hint=f"{mend} first, or write a script for TensorFlow (.py)",
            )
    return found


class FlatScript(ABC):
    """Lines that hold what is given, a function of it that computes the rest, and what both come
    to. what: it is called; reserved: names that mean something else in it; whole: types of
    operations of which every output can be written, and not the first alone.

    starts:     what gradients begin with, where that is not ones.
    operations: those of the function, in order.
    passed:     what the function is given.
    read:       what somebody reads.
    whole:      operations of such a type.
    """

    def __init__(
        self, document: Document, what: str, reserved: Iterable[str], whole: Collection[str] = ()
    ) -> None:
        self.document, self.names = document, Names(reserved)
        request, graph = document.request, document.graph
        self.given = given_values(document)
        self.ends = asked_ends(document)
        self.starts = [ref for ref in request.grad_ys if ref is not None]
        asked = [*dict.fromkeys((*self.ends, *self.starts, *request.wrt))]
        wanted = graph.ancestors([ref.op for ref in asked])
        self.whole = {name for name in wanted if graph[name].type in whole}
        require_first_outputs(asked, self.whole, what)
        self.operations = needed_operations(graph, asked, self.given)
        self.roots = [ref for ref in self.given if ref.op in wanted]
        read = {*self.ends, *(ref for op in self.operations for ref in input_refs(op))}
        self.read = {*read, *asked}
        self.passed = [ref for ref in self.roots if ref in read]

    @cached_property
    def results(self) -> Sequence[TensorRef]:
        """What the function gives: the ends, and what else the lines behind it read."""
        made = {op.name for op in self.operations}
        beside = (ref for ref in self.read_of_function() if ref.op in made)
        return [*dict.fromkeys((*self.ends, *beside))]

    def lines(self) -> Iterator[str]:
        """All but functions and classes."""
        request, names = self.document.request, self.names
        yield from (f"{names[ref]} = {self.root(ref)}" for ref in self.roots)
        arguments = ", ".join(names[ref] for ref in self.passed)
        yield from ("", "", f"def compute({arguments}):")
        yield from (f"    {line}" for op in self.operations for line in self.statement(op))
        results = ", ".join(names[ref] for ref in self.results)
        yield f"    return {results}"
        yield from ("", "", f"{results} = compute({arguments})")
        yield from (f"print({ref.short!r}, {self.shown(ref)})" for ref in self.ends)
        if request.of and request.wrt:
            yield ""
            yield from self.gradients()

    def differences(self, x: TensorRef, weights: str) -> Iterator[str]:
        """The gradient once more, where the function is given `x` and one thing is differentiated.
        weights: what the gradient begins with."""
        of, results = self.document.request.of, self.results
        if len(of) == 1 and x in self.passed and self.given[x].dtype.kind == "f":
            at = f"[{', '.join(self.names[ref] for ref in self.passed)}]"
            first = f"lambda *x: compute(*x)[{results.index(of[0])}]"
            function = "compute" if len(results) == 1 else first
            call = f"differences({function}, {at}, {self.passed.index(x)}, {weights})"
            yield f"print({f'by differences, {x.short}'!r}, {call})"

    def targets(self, outputs: Sequence[TensorRef]) -> str:
        """What all outputs of an operation are assigned to: a name for each that is read."""
        names = [self.names[ref] if ref in self.read else "_" for ref in outputs]
        while len(names) > 1 and names[-2:] in (["_", "_"], ["_", "*_"]):
            names[-2:] = ["*_"]
        return f"{', '.join(names)}{',' if len(names) == 1 else ''}"

    @abstractmethod
    def root(self, ref: TensorRef) -> str:
        """What is given."""

    @abstractmethod
    def statement(self, op: Operation) -> Iterator[str]:
        """Its lines. Raises GradstepError for an operation that has none here."""

    @abstractmethod
    def shown(self, ref: TensorRef) -> str:
        """What is printed of it."""

    @abstractmethod
    def read_of_function(self) -> Iterable[TensorRef]:
        """What is read of the graph behind the function."""

    @abstractmethod
    def gradients(self) -> Iterator[str]:
        """Lines that compute and print them."""


def asked_ends(document: Document) -> Sequence[TensorRef]:
    """What is differentiated, and what is fetched. Raises GradstepError where that is nothing."""
    ends = [*dict.fromkeys((*document.request.of, *document.fetches))]
    if not ends:
        raise GradstepError(
            "nothing is asked of this document that a script could compute",
            kind="ValueError",
            hint="ask for a gradient or a value first, or write a script for TensorFlow (.py)",
        )
    return ends


def needed_operations(
    graph: Graph, ends: Iterable[TensorRef], given: Mapping[TensorRef, np.ndarray]
) -> list[Operation]:
    """Those that compute it, in order, without what is given. Raises GradstepError for one that
    cannot run, in the words that the problem has at its node: lines are written of sound ones."""
    wanted = graph.ancestors([ref.op for ref in ends])
    broken = broken_operations(graph, infer_declared(graph))
    for problem in (broken[name] for name in graph.order if name in wanted and name in broken):
        raise GradstepError(
            problem.text,
            kind=problem.kind or "ValueError",
            node=problem.node or None,
            hint=problem.fix,
        )
    return [graph[n] for n in graph.order if n in wanted and TensorRef(n) not in given]


def input_refs(op: Operation) -> list[TensorRef]:
    """Raises GradstepError for an input that is not connected."""
    if None in op.inputs:
        raise GradstepError(
            f"an input of '{op.name}' is not connected",
            kind="ValueError",
            node=op.name,
            hint="connect it before exporting",
        )
    return [ref for ref in op.inputs if ref is not None]


def require_first_outputs(refs: Iterable[TensorRef], split: Collection[str], what: str) -> None:
    """Raise GradstepError where one is another output of an operation than the first, of which a
    formula is. split: operations that have all of theirs."""
    for ref in refs:
        if ref.index > 0 and ref.op not in split:
            raise GradstepError(
                f"output {ref.index} of '{ref.op}' cannot be written as {what}",
                kind="ValueError",
                node=ref.op,
                hint="write a script for TensorFlow (.py)",
            )


def array_text(array: np.ndarray) -> str:
    """As NumPy reads it."""
    return value_text(Constant(array))


def head(document: Document) -> str:
    """The script's docstring: what it shows, and why."""
    title = plain(document.title) or "A graph"
    note = plain(document.note)
    return f'"""{title} (made by Gradstep).{f"{chr(10) * 2}{note}{chr(10)}" if note else ""}"""'


def plain(text: str) -> str:
    """On one line, with nothing that would end a text or a comment."""
    shown = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(shown.replace("\\", "").replace('"', "'").split())
