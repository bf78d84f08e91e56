"""Answering CheckGradients: native, overridden and numeric gradients, and which one is right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from core.autodiff.finding import Verdict
from core.autodiff.gradcheck import Check, Gradients, check_gradients
from core.debug.program import name_of
from core.errors import GradstepError
from core.graph.model import TensorRef
from core.host.evaluator import Evaluator
from core.host.messages import GradientRow, GradientTable, UncheckedNode
from core.host.node_checks import checked_tensor, node_check, node_checks
from core.host.situation import Situation


def gradient_table(
    evaluate: Evaluator, here: Situation, second_order: bool = False
) -> GradientTable:
    """Every element of every gradient asked for, and every node on the way by itself.

    Raises GradstepError when nothing is asked for, or a gradient cannot be computed."""
    if not here.request.of or not here.request.wrt:
        raise GradstepError(
            "no gradient is asked for",
            kind="ValueError",
            hint="choose what to differentiate, and with respect to what",
        )
    graph = here.differentiated
    held = None if here.imported is None else here.imported.gradients
    check = check_gradients(
        evaluate, graph, here.request, here.given, here.functions, second_order, held
    )
    nodes, unchecked = node_checks(evaluate, here, graph, second_order)
    return GradientTable(
        rows=[row for ref in check.numeric for row in _rows(check, ref)],
        nodes=nodes,
        second=[checked_tensor(f, ref.short, order=2) for ref, f in check.second.items()],
        unchecked=unchecked,
        supports=check.supports,
        text=_text(check, unchecked),
    )


def gradient_tables(
    evaluate: Evaluator, here: Sequence[Situation], second_order: bool = False
) -> GradientTable:
    """The same of several things that are differentiated, one after another."""
    tables = [gradient_table(evaluate, each, second_order) for each in here]
    if len(tables) == 1:
        return tables[0]
    losses = [name_of(each.request.of) for each in here]
    said = {table.supports for table in tables}
    return GradientTable(
        rows=[row for table in tables for row in table.rows],
        nodes=[*{node.node: node for table in reversed(tables) for node in table.nodes}.values()],
        second=[tensor for table in tables for tensor in table.second],
        unchecked=[*{one.node: one for table in tables for one in table.unchecked}.values()],
        supports=said.pop() if len(said) == 1 else "neither" if "neither" in said else "both",
        text=" ".join(f"{loss}: {table.text}" for loss, table in zip(losses, tables, strict=True)),
    )


def table_of_node(
    evaluate: Evaluator, here: Situation, name: str, second_order: bool = False
) -> GradientTable:
    """One node alone, whether a gradient is asked for or not. Raises GradstepError."""
    check = node_check(evaluate, here, name, second_order)
    return GradientTable(
        rows=[], nodes=[check], supports="native" if check.agrees else "neither", text=check.text
    )


def _rows(check: Check, ref: TensorRef) -> Iterator[GradientRow]:
    agrees = check.agrees(ref)
    numeric = check.numeric[ref].value
    for index in np.ndindex(numeric.shape):
        analytic, slope = _element(check.in_force, ref, index), float(numeric[index])
        yield GradientRow(
            name=ref.short,
            index=list(index),
            native=None if check.native is None else _element(check.native, ref, index),
            override=analytic if check.overridden else None,
            numeric=slope,
            agrees=bool(agrees[index]),
            analytic=analytic,
            difference=abs((analytic or 0.0) - slope),
            method=check.numeric[ref].method,
            verdict=check.findings[ref].verdicts[index],
        )


def _element(gradients: Gradients, ref: TensorRef, index: tuple[int, ...]) -> float | None:
    array = gradients[ref]
    return None if array is None else float(array[index])


def _text(check: Check, unchecked: Sequence[UncheckedNode]) -> str:
    return " ".join([_verdict(check), *_remarks(check), *_left_out(unchecked)])


def _left_out(unchecked: Sequence[UncheckedNode]) -> Iterator[str]:
    """Which operations are only checked as parts of the whole, for each reason."""
    for why in dict.fromkeys(one.why for one in unchecked):
        names = [f"{one.node} ({one.type})" for one in unchecked if one.why == why]
        each = "each " if len(names) > 1 else ""
        yield f"Not checked alone, but in the whole: {', '.join(names)}, which {each}{why}."


def _remarks(check: Check) -> Iterator[str]:
    """What is neither right nor wrong; and what is wrong with the gradients of gradients."""
    for ref, finding in check.findings.items():
        if finding.verdict in (Verdict.KINK, Verdict.FLOAT32):
            yield f"The gradient of {ref.short} is at {finding.text}."
    for ref, finding in check.second.items():
        if finding.verdict is not Verdict.OK:
            yield f"The second derivative by {ref.short}: {finding.text}."


def _verdict(check: Check) -> str:
    if not check.overridden:
        if check.supports == "native":
            return "The gradients agree with finite differences."
        wrong = [ref.short for ref in check.numeric if not check.agrees(ref).all()]
        return f"The gradients of {', '.join(wrong)} differ from finite differences."
    native = f" There is no native gradient: {check.native_error}." if check.native_error else ""
    return _WORDS[check.supports] + native


_WORDS = {
    "native": "The numbers support the native gradient; the override gives another one.",
    "override": "The numbers support the override.",
    "both": "The override gives the native gradient, and the numbers support it.",
    "neither": "The numbers support neither gradient.",
}
