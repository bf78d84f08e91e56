"""Checks of gradients: when one is made unasked, and what is known from several of them."""

from __future__ import annotations

from msgspec import structs

from gradstep.core.protocol.messages import GradientTable, ProgramInfo, Stopped

QUICK = 0.5  # seconds; a program with slower steps is not checked unasked


def with_nodes(known: GradientTable | None, found: GradientTable) -> GradientTable:
    """`known`, with the nodes of `found` in place of what it says of them. Of single nodes alone
    there is nothing to be said in general."""
    known = known or structs.replace(found, nodes=[], text="")
    names = {node.node for node in found.nodes}
    others = [node for node in known.nodes if node.node not in names]
    return structs.replace(known, nodes=[*others, *found.nodes])


def should_check(
    table: GradientTable | None, program: ProgramInfo | None, stop: Stopped, slowest: float
) -> bool:
    """Whether an override in force is worth checking unasked: it ran, and it is quick. slowest:
    seconds that the slowest command took."""
    return (
        (table is None or not table.rows)
        and program is not None
        and bool(program.custom)
        and (stop.phase != "forward" or stop.run > 0)
        and slowest < QUICK
    )
