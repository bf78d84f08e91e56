"""Of several losses, the one whose gradients are shown where more than one has a gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from gradstep.core.protocol.messages import ProgramInfo

if TYPE_CHECKING:
    from gradstep.gui.model.debugger import Debugger


def foremost(program: ProgramInfo, loss: str) -> ProgramInfo:
    """`program` with what flows back from `loss` wherever several things do; as it is, where there
    is no such loss."""
    chosen = [one for one in program.losses if one.of == loss]
    if not chosen or program.losses[0].of == loss:
        return program
    losses = [*chosen, *(one for one in program.losses if one.of != loss)]
    edges = {(edge.op, edge.index): edge for one in reversed(losses) for edge in one.edges}
    gradients: dict[str, str] = {}
    for one in reversed(losses):
        gradients |= one.gradients
    return structs.replace(program, gradients=gradients, edges=[*edges.values()], losses=losses)


def shown_loss(program: ProgramInfo | None) -> str:
    """The loss of `foremost`; "" where there are not several."""
    return program.losses[0].of if program is not None and program.losses else ""


def losses_of(program: ProgramInfo, ref: str) -> list[str]:
    """Those that have a gradient with respect to a tensor, the shown one first; none where there
    are not several losses."""
    return [one.of for one in program.losses if ref in one.gradients]


def show_loss(debugger: Debugger, loss: str) -> None:
    """Let everything that shows gradients show those of `loss`."""
    if debugger.program is not None:
        debugger.program = foremost(debugger.program, loss)
        debugger.program_changed.emit()
