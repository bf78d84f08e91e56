"""Small graphs are edited as large ones are: tables laid over each other, sequences in parts."""

from __future__ import annotations

import pytest

from gradstep.core.document import node_positions
from gradstep.core.persistent import joined_sequence, overlaid_mapping
from gradstep.core.protocol import program_change


def edit_as_large(patch: pytest.MonkeyPatch) -> None:
    """Until the patch is undone."""
    patch.setattr(overlaid_mapping, "_SMALL", 0)
    patch.setattr(overlaid_mapping, "_MANY", 0)
    patch.setattr(joined_sequence, "SHORT", 4)
    patch.setattr(joined_sequence, "_PART", 3)
    patch.setattr(program_change, "_FEW", 2)
    patch.setattr(program_change, "_SHORT", 1)
    patch.setattr(node_positions, "SHORT", 0)
    patch.setattr(node_positions, "_MANY", 1)
