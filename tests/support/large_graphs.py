"""Small graphs are edited as large ones are: tables laid over each other, sequences in parts."""

from __future__ import annotations

import pytest

from gradstep.core.persistent import joined_sequence, overlaid_mapping


def edit_as_large(patch: pytest.MonkeyPatch) -> None:
    """Until the patch is undone."""
    patch.setattr(overlaid_mapping, "_SMALL", 0)
    patch.setattr(overlaid_mapping, "_MANY", 0)
    patch.setattr(joined_sequence, "SHORT", 4)
    patch.setattr(joined_sequence, "_PART", 3)
