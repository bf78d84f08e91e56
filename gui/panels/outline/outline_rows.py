"""What the outline says: the document's operations by role, scopes nested."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gradstep.core.document.document import Document
from gradstep.core.document.requests import whole_request
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.ops.typing.flatten_loops import flatten_loops
from gradstep.core.ops.typing.inference import Inference
from gradstep.core.protocol.messages import ProgramInfo, StepInfo
from gradstep.gui.look.theme import Tone
from gradstep.gui.panels.problems.problem_rows import faults
from gradstep.gui.panels.widgets.row_tree import Row

INPUTS = frozenset({"Placeholder", "PlaceholderV2", "PlaceholderWithDefault"})
VARIABLES = frozenset({"Variable", "VariableV2", "VarHandleOp"})


@dataclass
class _Scope:
    """One level of names while the tree is being built."""

    scopes: dict[str, _Scope] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)


def outline_rows(
    document: Document, inference: Inference, program: ProgramInfo | None, words: str = ""
) -> list[Row]:
    """Groups in the order inputs, variables, network, loss, gradients, updates; empty ones are
    left out. With `words`, only operations whose name or type contains each of them."""
    asked = {ref.op for ref in whole_request(document).of}
    groups: dict[str, list[Operation]] = {"inputs": [], "variables": [], "network": [], "loss": []}
    for op in flatten_loops(document.graph):
        groups[_role(op, asked)].append(op)
    problems = dict(reversed(faults(inference.problems, program)))
    derivative = _derivative_of(document)

    def describe(op: Operation) -> Row:
        detail, tone = _detail(op, inference, program, derivative, op.name in asked)
        leaf = op.name.rpartition("/")[2]
        problem = problems.get(op.name, "")
        return Row(f"op:{op.name}", leaf, detail, tone, op.name, problem=problem, tip=op.name)

    wanted = _matcher(words)
    rows = [
        _group(title, [(op.name, describe(op)) for op in ops if wanted(op.name, op.type)])
        for title, ops in groups.items()
    ]
    rows += _derived(program, document, wanted)
    return [_opened(row) if words else row for row in rows if row.children]


def _role(op: Operation, asked: set[str]) -> str:
    if op.name in asked:
        return "loss"
    if op.type in INPUTS:
        return "inputs"
    return "variables" if op.type in VARIABLES else "network"


def _matcher(words: str) -> Callable[[str, str], bool]:
    parts = words.lower().split()
    if not parts:
        return lambda name, type: True
    return lambda name, type: all(part in f"{name} {type}".lower() for part in parts)


def _derivative_of(document: Document) -> str:
    """The upper half of dL/dc: L for one loss, the sum's sign for several."""
    return "ΣL" if len(document.request.of) > 1 else "L"


def _detail(
    op: Operation,
    inference: Inference,
    program: ProgramInfo | None,
    loss: str,
    asked: bool,
) -> tuple[str, Tone]:
    if op.type in VARIABLES and program is not None and f"{op.name}:0" in program.gradients:
        return f"d{loss}/d{op.name.rpartition('/')[2]}", "backward"
    if op.type in VARIABLES or op.type in INPUTS:
        known = inference.types.get(TensorRef(op.name))
        return ("" if known is None else str(known.shape)), "muted"
    if program is not None and op.name in program.custom:
        return op.type, "override"
    return op.type, "muted"


def _derived(
    program: ProgramInfo | None, document: Document, wanted: Callable[[str, str], bool]
) -> list[Row]:
    """The operations that differentiation and the optimizer added, closed at first."""
    if program is None:
        return []
    graph = document.graph
    steps = [s for s in program.steps if s.op not in graph and wanted(s.op, s.type)]
    phases: Mapping[str, list[StepInfo]] = {"backward": [], "update": []}
    for step in steps:
        if step.phase in phases:
            phases[step.phase].append(step)
    return [
        _group("gradients", _step_rows(phases["backward"], "gradients/"))._replace(open=False),
        _group("updates", _step_rows(phases["update"], ""))._replace(open=False),
    ]


def _step_rows(steps: Iterable[StepInfo], prefix: str) -> list[tuple[str, Row]]:
    return [
        (
            s.op.removeprefix(prefix),
            Row(f"op:{s.op}", s.op.rpartition("/")[2], s.type, name=s.op),
        )
        for s in steps
    ]


def _group(title: str, named: Sequence[tuple[str, Row]]) -> Row:
    top = _Scope()
    for path, row in named:
        scope = top
        for part in path.split("/")[:-1] if "/" in path else ():
            scope = scope.scopes.setdefault(part, _Scope())
        scope.rows.append(row)
    return Row(
        f"group:{title}",
        title,
        str(len(named)),
        heading=True,
        children=tuple(_nested(top, f"scope:{title}")[0]),
    )


def _nested(scope: _Scope, key: str) -> tuple[list[Row], int]:
    """The rows of a scope, and how many operations there are in it."""
    inner, total = [], len(scope.rows)
    for name, child in scope.scopes.items():
        rows, count = _nested(child, f"{key}/{name}")
        inner.append(Row(f"{key}/{name}", name, str(count), open=False, children=tuple(rows)))
        total += count
    return inner + scope.rows, total


def _opened(row: Row) -> Row:
    return row._replace(open=True, children=tuple(_opened(child) for child in row.children))
