"""Answering FindJacobian: one operation's, where the debugger stands, with its verdicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gradstep.core.autodiff.check.local_jacobian import JacobianBlock, local_jacobian
from gradstep.core.autodiff.reverse.gradient_request import gradient_name
from gradstep.core.checks.gradients.graph_evaluator import Evaluator
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import anywhere, graph_around
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.tensor_bytes import pack
from gradstep.core.protocol.vocabulary import VERDICTS

Told = Callable[[int, int], None]


def find_jacobian(
    session: DebugSession, name: str, told: Told = lambda done, total: None
) -> tuple[m.Jacobian, tuple[Buffer, ...]]:
    """told: how many rows of how many are done. Raises GradstepError for an operation that has
    none, or that has no inputs yet."""
    op, request = anywhere(session.program.forward, name), session.program.request
    blocks = local_jacobian(
        Evaluator(session.program.functions),
        op,
        [_input(session, op, ref) for ref in op.inputs],
        request,
        session.program.rules,
        told,
        _read(session, op),
    )
    buffers: list[Buffer] = []
    rule = gradient_name(op, request.overrides)
    told_of = [_block(op, block, buffers) for block in blocks]
    return (
        m.Jacobian(
            node=name, op=op.type, gradient=rule, blocks=told_of, text=_text(op, rule, blocks)
        ),
        tuple(buffers),
    )


def _read(session: DebugSession, op: Operation) -> set[int]:
    """The outputs that somebody reads, or asks for; of one that nobody does, the first."""
    graph, request = graph_around(session.program.forward, op.name), session.program.request
    sources = [graph.source(edge) for edge in graph.consumers[op.name]]
    sources += [*request.of, *session.program.fetches]
    return {ref.index for ref in sources if ref is not None and ref.op == op.name} or {0}


def _input(session: DebugSession, op: Operation, ref: TensorRef | None) -> np.ndarray:
    """What an operation reads, where the debugger stands."""
    if ref is None:
        raise GradstepError(
            f"an input of '{op.name}' is not wired",
            kind="ValueError",
            node=op.name,
            hint="wire it on the canvas",
        )
    frame = session.view()
    value = frame.value(ref)
    if value is None or value.dtype.hasobject:
        what = "is not known here" if value is None else "is no tensor of numbers"
        raise GradstepError(
            f"'{ref.short}', which '{op.name}' reads, {what}",
            kind="FailedPreconditionError",
            node=op.name,
            hint=f"run to {op.name} first" if value is None else "choose another operation",
        )
    return value


def _block(op: Operation, block: JacobianBlock, buffers: list[Buffer]) -> m.JacobianBlock:
    source = op.inputs[block.input]
    return m.JacobianBlock(
        output=op.output(block.output).short,
        input="" if source is None else source.short,
        output_shape=[*block.shapes[0]],
        input_shape=[*block.shapes[1]],
        rule=_added(buffers, block.rule),
        numeric=_added(buffers, block.numeric),
        verdicts=_added(buffers, block.verdicts),
        wrong=block.wrong,
    )


def _added(buffers: list[Buffer], array: np.ndarray | None) -> int:
    if array is None:
        return -1
    buffers.append(pack(array))
    return len(buffers) - 1


def _text(op: Operation, rule: str, blocks: Sequence[JacobianBlock]) -> str:
    entries = sum(block.rule.size for block in blocks)
    if not entries:
        return "there are no elements here to show"
    verdicts = [block.verdicts.ravel() for block in blocks if block.verdicts is not None]
    if len(verdicts) < len(blocks):
        return f"by the rule '{rule}'; there are too many entries to measure them, too"
    wrong = sum(block.wrong for block in blocks)
    if not wrong:
        all_of = np.concatenate(verdicts)
        known = int(np.count_nonzero(all_of == VERDICTS.index("TensorFlow's")))
        but = f", but {known} that are known to be wrong in TensorFlow, too" if known else ""
        return f"all {entries} entries that the rule '{rule}' gives are what differences say{but}"
    said = f"{wrong} of {entries} entries are not what differences say"
    return f"the rule '{rule}' is wrong here: {said}"
