"""What JAX drew at random: the very numbers, since keys and their generator are not here."""

from __future__ import annotations

from gradstep.core.lowering.lax.lax_table import lower
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.lowering.replayed_numbers import replayed
from gradstep.core.ops.build.builder import Tensor


@lower(
    "random",
    differs="the numbers that JAX drew from its keys are constants here",
    draws=True,
)
def drawn(site: Site) -> Tensor:
    """All that was made of random keys alone; the variant says what was asked for."""
    if (recorded := replayed(site)) is None:
        raise UnloweredError("what it drew was not recorded")
    return recorded
