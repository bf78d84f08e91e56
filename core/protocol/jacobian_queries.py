"""What the window asks about the Jacobian of one operation.

Part of the messages; see messages.py.
"""

from __future__ import annotations

import msgspec

from gradstep.core.protocol.message_base import Question, Reply


class FindJacobian(Question, frozen=True, kw_only=True):
    """What is each element of an operation's outputs by each of its inputs, at the values that
    these have where the debugger stands, in loops in the iteration that is looked at? Replied to
    with Jacobian."""

    node: str


class JacobianBlock(msgspec.Struct, frozen=True, kw_only=True):
    """Of one output by one input, by their names. rule, numeric, verdicts: the numbers of raw
    buffers, float64, float64 and int8, row-major, a row for each element of the output; -1 where
    there were too many entries to be measured. A verdict is its place in
    gradstep.core.protocol.vocabulary.VERDICTS. wrong: how many entries are."""

    output: str
    input: str
    output_shape: list[int]
    input_shape: list[int]
    rule: int
    numeric: int = -1
    verdicts: int = -1
    wrong: int = 0


class Jacobian(Reply, frozen=True, kw_only=True):
    """op: the operation's type; gradient: the rule in force; text: what comes of it, in words."""

    node: str
    op: str
    gradient: str
    blocks: list[JacobianBlock]
    text: str
