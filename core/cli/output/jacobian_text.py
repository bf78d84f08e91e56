"""The Jacobian of one operation as text: a matrix for each input, what differs marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.core.cli.output.command_output import table
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.jacobian_bytes import matrices
from gradstep.core.protocol.messages import Jacobian, JacobianBlock
from gradstep.core.protocol.vocabulary import VERDICTS

_ROWS, _COLUMNS = 16, 8  # that are printed; of larger ones the first
_WRONG = VERDICTS.index("wrong")


def jacobian_text(found: Jacobian, buffers: Sequence[Buffer]) -> str:
    """Entries that are wrong have a `!` and what was measured below them."""
    parts = [_block_text(block, matrices(block, buffers)) for block in found.blocks]
    return "\n\n".join([*parts, f"{found.node}: {found.text}"])


def jacobian_object(found: Jacobian, buffers: Sequence[Buffer]) -> dict[str, Any]:
    """The same as JSON has it."""
    return {
        "node": found.node,
        "type": found.op,
        "gradient": found.gradient,
        "text": found.text,
        "blocks": [_block_object(block, matrices(block, buffers)) for block in found.blocks],
    }


def _block_object(block: JacobianBlock, parts: dict[str, np.ndarray]) -> dict[str, Any]:
    verdicts = parts.get("verdicts")
    words = None if verdicts is None else [[VERDICTS[at] for at in row] for row in verdicts]
    numeric = parts.get("numeric")
    return {
        "output": block.output,
        "input": block.input,
        "output_shape": block.output_shape,
        "input_shape": block.input_shape,
        "rule": parts["rule"].tolist(),
        "numeric": None if numeric is None else numeric.tolist(),
        "verdicts": words,
        "wrong": block.wrong,
    }


def _block_text(block: JacobianBlock, parts: dict[str, np.ndarray]) -> str:
    rule = parts["rule"]
    count, size = rule.shape
    head = f"∂{block.output}/∂{block.input}, {count} by {size}"
    rows, columns = min(count, _ROWS), min(size, _COLUMNS)
    header = ["", *(_index(j, block.input_shape) for j in range(columns))]
    header += ["…"] if columns < size else []
    lines = []
    for i in range(rows):
        lines += _row(i, block, parts, columns)
    more = [f"… {count - rows} more rows"] if rows < count else []
    return "\n".join([head, table(lines, header), *more])


def _row(
    i: int, block: JacobianBlock, parts: dict[str, np.ndarray], columns: int
) -> list[list[str]]:
    """The rule's entries, and where some are wrong the measured ones below those."""
    rule, numeric, verdicts = parts["rule"], parts.get("numeric"), parts.get("verdicts")
    wrong = [verdicts is not None and verdicts[i, j] == _WRONG for j in range(columns)]
    cells = [f"{rule[i, j]:.4g}{' !' if wrong[j] else ''}" for j in range(columns)]
    lines = [[_index(i, block.output_shape), *cells]]
    if any(wrong) and numeric is not None:
        lines.append(["", *(f"{numeric[i, j]:.4g}" if wrong[j] else "" for j in range(columns))])
    return lines


def _index(at: int, shape: Sequence[int]) -> str:
    """`[0, 2]`; `[]` of a scalar."""
    where = np.unravel_index(at, tuple(shape)) if shape else ()
    return f"[{', '.join(str(int(x)) for x in where)}]"
