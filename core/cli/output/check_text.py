"""What `gradstep check` prints: problems, gradients by element and node, expectations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from gradstep.core.autodiff.check.check_result import Verdict
from gradstep.core.checks.doctor.lint_table import BY_CODE
from gradstep.core.checks.gradients.check_conclusion import Conclusion
from gradstep.core.cli.output.command_output import table
from gradstep.core.document.required_python import Asked
from gradstep.core.graph.problems import Problem, problem_text
from gradstep.core.protocol.messages import (
    CheckedExpectation,
    CheckedTensor,
    GradientRow,
    GradientTable,
)

_SHORT = 20  # lines of a table that is never cut
_WRONG_ONES = 5  # elements of a tensor that are wrong, and are shown


def text(
    found: Conclusion,
    checked: GradientTable | None,
    expected: Sequence[CheckedExpectation] = (),
    missing: Sequence[Asked] = (),
    whole: bool = True,
) -> str:
    """Everything, with empty lines between the tables; what it comes to is the last line.
    missing: Python that is to be written. whole: whether long tables have a line for each element
    and operation, and not for each tensor and what is not as it should be."""
    parts = ["\n".join([_problem(p) for p in found.problems] or ["no problems"])]
    if missing:
        parts += ["To write what is missing, in a file for --code:", *(a.stub for a in missing)]
    if checked is not None:
        parts += [_gradients(checked, whole), _nodes(checked, whole), checked.text]
    parts += ["\n".join(_expectation(e) for e in expected), found.text]
    return "\n\n".join(part.rstrip("\n") for part in parts if part)


def _problem(p: Problem) -> str:
    """Of what a lint found, with the code by which it is left out."""
    said = problem_text(p)
    return f"{said} [{p.code}]" if p.code in BY_CODE else said


def _expectation(e: CheckedExpectation) -> str:
    """The sentence, and below it what was looked at and what came."""
    looked_at = f"{e.what} in run {e.run + 1}" if e.what else f"run {e.run + 1}"
    return f"{'ok' if e.ok else 'NOT OK':6}  {e.text}\n        {looked_at}: {e.came}"


def _gradients(checked: GradientTable, whole: bool) -> str:
    """Of what was asked for, through the whole graph."""
    if not checked.rows:
        return ""
    header = ["gradient by", "native", "override", "numeric", "difference", "method", "verdict"]
    whole = whole or len(checked.rows) <= _SHORT
    rows = [*map(_row, checked.rows)] if whole else [*_by_tensor(checked.rows)]
    rows += [_second(tensor) for tensor in checked.second]
    if all(row.override is None for row in checked.rows):
        header, *rows = ([*cells[:2], *cells[3:]] for cells in (header, *rows))
    return table(rows, header)


def _by_tensor(rows: Iterable[GradientRow]) -> Iterator[list[str]]:
    """Of each tensor and each verdict on its elements the worst one, and how many others there are;
    of what is wrong several."""
    alike: dict[tuple[str, str], list[GradientRow]] = {}
    for row in rows:
        alike.setdefault((row.name, row.verdict), []).append(row)
    for (_, verdict), found in alike.items():
        found.sort(key=_off, reverse=True)
        shown = found[: _WRONG_ONES if verdict in (Verdict.WRONG, Verdict.DEFECT) else 1]
        lines, more = [*map(_row, shown)], len(found) - len(shown)
        if more:
            lines[-1][-1] += f", and {more:,} other{'s' if more > 1 else ''}"
        yield from lines


def _off(row: GradientRow) -> float:
    """How far off, with what cannot be told first."""
    difference = row.difference
    return math.inf if difference is None or math.isnan(difference) else difference


def _row(row: GradientRow) -> list[str]:
    values = (row.native, row.override, row.numeric)
    return [
        _place(row.name, row.index),
        *("None" if v is None else f"{v:.7g}" for v in values),
        _small(row.difference),
        row.method,
        row.verdict,
    ]


def _second(tensor: CheckedTensor) -> list[str]:
    name = f"{_place(tensor.name, tensor.index)} (2nd)"
    numbers = [_number(tensor.analytic), "None", _number(tensor.numeric)]
    return [name, *numbers, _small(tensor.difference), tensor.method, tensor.verdict]


def _nodes(checked: GradientTable, whole: bool) -> str:
    """Of every node by itself, at its worst element."""
    tensors = [t for node in checked.nodes for t in node.tensors]
    whole = whole or len(tensors) <= _SHORT
    shown = tensors if whole else [t for t in tensors if t.verdict != Verdict.OK.value]
    header = ["node", "gradient", "worst at", "analytic", "numeric", "difference"]
    parts = [table([_node(t) for t in shown], [*header, "method", "verdict"])] if shown else []
    if fine := len(tensors) - len(shown):
        parts.append(f"{fine:,} gradients of operations by themselves are ok; --all shows them")
    return "\n".join(parts)


def _node(tensor: CheckedTensor) -> list[str]:
    gradient = tensor.gradient + (" (2nd)" if tensor.order == 2 else "")
    return [
        f"{tensor.node} ({tensor.type})",
        gradient,
        _place(tensor.name, tensor.index),
        _number(tensor.analytic),
        _number(tensor.numeric),
        _small(tensor.difference),
        tensor.method,
        tensor.verdict,
    ]


def _place(name: str, index: Iterable[int]) -> str:
    return name + "".join(f"[{i}]" for i in index)


def _number(value: float | None) -> str:
    return "None" if value is None else f"{value:.7g}"


def _small(value: float | None) -> str:
    return "" if value is None else f"{value:.2g}"
