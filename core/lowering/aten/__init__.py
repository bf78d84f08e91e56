"""PyTorch's operations (ATen) in ours: one declaration each, in a module for each family.

`ATEN` in `aten_table.py` is the table; importing this package fills it.
"""

from gradstep.core.lowering.aten import (
    aten_activations,
    aten_attention,
    aten_comparisons,
    aten_convolutions,
    aten_creation,
    aten_elementwise,
    aten_indexing,
    aten_joining,
    aten_losses,
    aten_normalization,
    aten_pooling,
    aten_products,
    aten_random,
    aten_recurrent,
    aten_reductions,
    aten_shapes,
    aten_sizes,
    aten_sorting,
)
from gradstep.core.lowering.aten.aten_table import ATEN

__all__ = ["ATEN"]
_FILL_IT = (
    aten_activations,
    aten_attention,
    aten_comparisons,
    aten_convolutions,
    aten_creation,
    aten_elementwise,
    aten_indexing,
    aten_joining,
    aten_losses,
    aten_normalization,
    aten_pooling,
    aten_products,
    aten_random,
    aten_recurrent,
    aten_reductions,
    aten_shapes,
    aten_sizes,
    aten_sorting,
)
