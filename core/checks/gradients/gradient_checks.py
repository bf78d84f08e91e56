"""Answering CheckGradients: native, overridden and numeric gradients, and which one is right."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import TypeVar

import numpy as np
from msgspec import structs

from gradstep.core.autodiff.check.check_result import Verdict
from gradstep.core.autodiff.check.gradcheck import Check, Gradients, check_gradients
from gradstep.core.checks.gradients.gradient_sentences import said, told
from gradstep.core.checks.gradients.graph_evaluator import Evaluator
from gradstep.core.checks.gradients.lost_losses import lost_losses
from gradstep.core.checks.gradients.node_checks import check_tensor, node_check, node_checks
from gradstep.core.checks.gradients.run_rounding import with_run_rounding
from gradstep.core.debug.history.frozen_program import name_of
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.declare.placeable_ops import unfollowed
from gradstep.core.program.gradient_context import Situation
from gradstep.core.protocol.messages import CheckedTensor, GradientRow, GradientTable, NodeCheck
from gradstep.core.protocol.vocabulary import Supported

_WIDE = "gradients are checked in float64, on this processor"
_DEFECT = Verdict.DEFECT.value
Found = TypeVar("Found", GradientRow, CheckedTensor)


def gradient_table(
    evaluate: Evaluator,
    here: Situation,
    second_order: bool = False,
    expected: Container[str] = (),
) -> GradientTable:
    """Every element of every gradient asked for, and every node on the way by itself. expected:
    tensors whose gradient the document says, as it is.

    Raises GradstepError when nothing is asked for, or a gradient cannot be computed."""
    if not here.request.of or not here.request.wrt:
        raise GradstepError(
            "no gradient is asked for",
            kind="ValueError",
            hint="choose what to differentiate, and with respect to what",
        )
    with np.errstate(all="ignore"):  # what overflows is told in words
        lost = lost_losses(evaluate, here)
        if lost:
            return GradientTable(
                rows=[], nodes=[], lost=lost, supports="neither", text=" ".join(map(told, lost))
            )
        return _table(evaluate, here, second_order, expected)


def _table(
    evaluate: Evaluator, here: Situation, second_order: bool, expected: Container[str]
) -> GradientTable:
    graph = here.differentiated
    held = None if here.imported is None else here.imported.gradients
    check = check_gradients(
        evaluate, graph, here.request, here.given, here.functions, second_order, held
    )
    check = with_run_rounding(
        evaluate, graph, here.request, here.given, here.functions, check, held
    )
    nodes, unchecked = node_checks(evaluate, here, graph, second_order)
    rows = [row for ref in check.numeric for row in _rows(check, ref)]
    second = [check_tensor(f, ref.short, order=2) for ref, f in check.second.items()]
    rows, second = _attributed(rows, second, nodes)
    supports = check.supports if check.overridden else _supported(rows)
    return GradientTable(
        rows=rows,
        nodes=nodes,
        second=second,
        unchecked=unchecked,
        supports=supports,
        text=said(rows, nodes, second, unchecked, supports, check.native_error, expected),
    )


def _supported(rows: Sequence[GradientRow]) -> Supported:
    """Without overrides."""
    return "neither" if any(map(_is_wrong, rows)) else "native"


def gradient_tables(
    evaluate: Evaluator,
    here: Sequence[Situation],
    second_order: bool = False,
    expected: Container[str] = (),
) -> GradientTable:
    """The same of several things that are differentiated, one after another."""
    tables = [gradient_table(evaluate, each, second_order, expected) for each in here]
    return _with_remark(_joined(here, tables), here[0])


def _with_remark(table: GradientTable, here: Situation) -> GradientTable:
    remark = unfollowed(here.graph, _WIDE)
    return structs.replace(table, text=f"{table.text} {remark}") if remark else table


def _joined(here: Sequence[Situation], tables: Sequence[GradientTable]) -> GradientTable:
    if len(tables) == 1:
        return tables[0]
    losses = [name_of(each.request.of) for each in here]
    supported = {table.supports for table in tables}
    return GradientTable(
        rows=[row for table in tables for row in table.rows],
        nodes=[*{node.node: node for table in reversed(tables) for node in table.nodes}.values()],
        second=[tensor for table in tables for tensor in table.second],
        unchecked=[*{one.node: one for table in tables for one in table.unchecked}.values()],
        lost=[one for table in tables for one in table.lost],
        supports=_together(supported),
        text=" ".join(f"{loss}: {table.text}" for loss, table in zip(losses, tables, strict=True)),
    )


def _together(supported: set[Supported]) -> Supported:
    if len(supported) == 1:
        return next(iter(supported))
    return "neither" if "neither" in supported else "both"


def table_of_node(
    evaluate: Evaluator, here: Situation, name: str, second_order: bool = False
) -> GradientTable:
    """One node alone, whether a gradient is asked for or not. Raises GradstepError."""
    with np.errstate(all="ignore"):
        check = node_check(evaluate, here, name, second_order)
    supports: Supported = "native" if check.agrees else "neither"
    return _with_remark(
        GradientTable(rows=[], nodes=[check], supports=supports, text=check.text), here
    )


def _rows(check: Check, ref: TensorRef) -> Iterator[GradientRow]:
    agrees, finding = check.agrees(ref), check.findings[ref]
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
            verdict=finding.verdicts[index].value,
            text=finding.text if index == finding.index else "",
        )


def _element(gradients: Gradients, ref: TensorRef, index: tuple[int, ...]) -> float | None:
    array = gradients[ref]
    return None if array is None else float(array[index])


def _attributed(
    rows: list[GradientRow], second: list[CheckedTensor], nodes: Sequence[NodeCheck]
) -> tuple[list[GradientRow], list[CheckedTensor]]:
    """What is wrong in the whole, where every node by itself is right but for TensorFlow's own
    defects: then it comes of these."""
    if _comes_of_defects(nodes, 1):
        rows = [
            structs.replace(_blamed(row), agrees=True) if _is_wrong(row) else row for row in rows
        ]
    if _comes_of_defects(nodes, 2):
        second = [_blamed(tensor) if _is_wrong(tensor) else tensor for tensor in second]
    return rows, second


def _comes_of_defects(nodes: Sequence[NodeCheck], order: int) -> bool:
    found = {t.verdict for node in nodes for t in node.tensors if t.order <= order}
    return _DEFECT in found and Verdict.WRONG.value not in found


def _blamed(found: Found) -> Found:
    return structs.replace(
        found, verdict=_DEFECT, text=found.text.replace("wrong", "TensorFlow's own defect", 1)
    )


def _is_wrong(found: GradientRow | CheckedTensor) -> bool:
    return found.verdict == Verdict.WRONG.value
