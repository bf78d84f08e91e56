"""A graph as lines of Python: a name for each tensor, and what the lines of a script need of it."""

from __future__ import annotations

import keyword
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

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
            raise GradstepError(
                f"nothing is known to be in '{op.name}'",
                kind="ValueError",
                node=op.name,
                hint="give it a value first, or write a script for TensorFlow (.py)",
            )
    return found


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


def require_first_outputs(op: Operation, split: Collection[str], what: str) -> None:
    """Raise GradstepError where it reads another output of an operation than the first, of which a
    formula is. split: operations that have all of theirs."""
    for ref in input_refs(op):
        if ref.index > 0 and ref.op not in split:
            raise GradstepError(
                f"'{op.name}' reads output {ref.index} of '{ref.op}', which cannot be written as "
                f"{what}",
                kind="ValueError",
                node=op.name,
                hint="write a script for TensorFlow (.py)",
            )


def array_text(array: np.ndarray) -> str:
    """As NumPy reads it."""
    return value_text(Constant(array))


def head(document: Document) -> str:
    """The script's docstring: what it shows, and why."""
    title = _plain(document.title) or "A graph"
    note = _plain(document.note)
    return f'"""{title} (made by Gradstep).{f"{chr(10) * 2}{note}{chr(10)}" if note else ""}"""'


def _plain(text: str) -> str:
    shown = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(shown.replace("\\", "").replace('"', "'").split())
