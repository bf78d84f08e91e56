"""The table of PyTorch's operations, and that of Python's arithmetic on sizes beside them."""

from __future__ import annotations

from functools import partial

from gradstep.core.lowering.lowering_table import LoweringTable

# "_native_batch_norm_legit_functional", "native_dropout", "max_pool2d_with_indices", "_softmax"
_INNER = (
    r"(?!__)_?(?:native_|fused_|unsafe_)?([a-z]\w*?)"
    r"(?:_legit|_with_update|_with_indices)?(?:_no_training|_functional)?"
)
ATEN = LoweringTable(_INNER, widens=True)
PYTHON = LoweringTable()

lower = ATEN.lower
lower_as_given = partial(ATEN.lower, widens=False)  # what moves, picks, compares: in its own type
