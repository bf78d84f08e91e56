"""The console's commands about where a gradient comes from: which rows make it, what it passes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gradstep.core.checks.gradients.bottleneck_answers import find_bottlenecks, loss_for
from gradstep.core.cli.console.console_command import ConsoleCommand, Reply
from gradstep.core.cli.console.move_commands import needs
from gradstep.core.cli.output.bottleneck_text import bottleneck_text
from gradstep.core.cli.output.command_output import table
from gradstep.core.debug.history.program_tensors import find_tensor
from gradstep.core.errors import GradstepError
from gradstep.core.host.step_answers import weigh_rows
from gradstep.core.program.gradient_context import situation_about, situation_of
from gradstep.core.protocol.messages import RowsWeighed, RowWeight, WeighRows

if TYPE_CHECKING:
    from gradstep.core.cli.console.console import Console
    from gradstep.core.debug.motion.debug_session import DebugSession

_OF = " of "
_LISTED = 16  # rows
_SECONDS = 5.0


def rows(console: Console, rest: str) -> Reply:
    """`rows [RUN]`: how much of a run's gradient each row of its batch makes; RUN counts from 1,
    and is else the last that came to its end."""
    if rest and (not rest.isdecimal() or int(rest[:18]) < 1):
        raise needs("rows", "the number of a run, counted from 1")
    session = console.session
    run = int(rest[:18]) - 1 if rest else _last_made(session)
    found = weigh_rows(session, WeighRows(run=run, seconds=_SECONDS, limit=1 << 20))
    if not found.size:
        raise GradstepError(
            "this document has no data whose rows could be weighed",
            kind="ValueError",
            hint="rows are those of its Data: a table, arrays, a generator",
        )
    return Reply(_rows_text(found), msgspec.to_builtins(found))


def _last_made(session: DebugSession) -> int:
    """The run that it stands in, if that is done, or the one before; the first where none is."""
    timeline, run = session.timeline, session.stop.run
    return run if timeline.done(run) == timeline.length else max(run - 1, timeline.first)


def _rows_text(found: RowsWeighed) -> str:
    header = ["row", "share", "gradient norm", "loss", *found.columns]
    listed = table([_row(row) for row in found.rows[:_LISTED]], header)
    more = len(found.rows) - _LISTED
    lines = [listed, f"and {more} more rows"] if more > 0 else [listed]
    return "\n".join([*lines, _sum(found)])


def _row(row: RowWeight) -> list[str]:
    share = "" if row.share is None else f"{100 * row.share:.1f} %"
    numbers = ("" if x is None else f"{x:.4g}" for x in (row.norm, row.loss))
    return [str(row.row), share, *numbers, *row.cells]


def _sum(found: RowsWeighed) -> str:
    """What the shares come to together."""
    if not found.adds_up:
        gap = "" if found.gap is None else f", by {100 * found.gap:.1f} % of it"
        return f"the rows' gradients are not the batch's{gap}: rows hang on each other"
    total = sum(row.share or 0.0 for row in found.rows)
    looked = f"{found.looked} of {found.size} rows" if found.looked < found.size else "all rows"
    return f"{looked} make {100 * total:.1f} % of the gradient of run {found.run + 1}"


def cut(console: Console, rest: str) -> Reply:
    """`cut NAME [of LOSS]`: what all of its gradient passes, and the fewest wires with a stop at
    which none arrives."""
    name, _, loss = rest.partition(_OF)
    if not name.strip():
        raise needs("cut", "the name of a tensor")
    session = console.session
    ref = find_tensor(session.program, name.strip())
    here = situation_of(session, session.program.rules)
    losses = [y for one in session.program.derived for y in one.of] or [*here.request.of]
    of = loss.strip() or loss_for(here, str(ref), losses)
    found = find_bottlenecks(situation_about(session, session.program.rules, of), of, str(ref))
    told = bottleneck_text(found, ()).strip("\n")
    text = (
        f"d {found.of} / d {found.wrt}\n{told}" if told else f"no gradient arrives at {found.wrt}"
    )
    return Reply(text, msgspec.to_builtins(found))


ATTRIBUTION_COMMANDS = (
    ConsoleCommand(
        "rows",
        rows,
        "[RUN]: how much of the gradient each row of the batch makes; runs count from 1",
    ),
    ConsoleCommand("cut", cut, "NAME [of LOSS]: the fewest wires at which its gradient ends"),
)
