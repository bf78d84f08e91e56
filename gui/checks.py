"""What is known of the gradients from several checks: of all, and of single nodes since."""

from __future__ import annotations

from msgspec import structs

from core.host.messages import GradientTable


def with_nodes(known: GradientTable | None, found: GradientTable) -> GradientTable:
    """`known`, with the nodes of `found` in place of what it says of them. Of single nodes alone
    there is nothing to be said in general."""
    known = known or structs.replace(found, nodes=[], text="")
    names = {node.node for node in found.nodes}
    others = [node for node in known.nodes if node.node not in names]
    return structs.replace(known, nodes=[*others, *found.nodes])
