"""The console's command for loops: which of their iterations are looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gradstep.core.cli.console.console_command import ConsoleCommand, Reply
from gradstep.core.cli.output.command_output import table
from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import require_loop
from gradstep.core.host.program_reports import report_stop
from gradstep.core.protocol.messages import LoopShown

if TYPE_CHECKING:
    from gradstep.core.cli.console.console import Console


def iteration(console: Console, rest: str) -> Reply:
    """`iteration`: of which iteration each loop shows its values; `iteration LOOP 3`: of that one;
    `iteration LOOP last`: of the last again. LOOP need not be said where there is one."""
    if not rest:
        return _listed(console)
    loop, _, number = rest.rpartition(" ")
    target = f"{loop or _only_loop(console)} {number}"
    require_loop(console.session.plan.graph, target.rpartition(" ")[0].strip())
    return console.acts.choose_iteration(target, lambda: _listed(console))


def _only_loop(console: Console) -> str:
    loops = [each.loop for each in _loops(console) if not _is_way_back(console, each.loop)]
    if len(loops) != 1:
        raise GradstepError(
            f"there are {len(loops)} loops",
            kind="ValueError",
            hint="say which: iteration while/While 3" if loops else "only loops have iterations",
        )
    return loops[0]


def _is_way_back(console: Console, loop: str) -> bool:
    return bool(require_loop(console.session.plan.graph, loop).origin)


def _loops(console: Console) -> list[LoopShown]:
    return report_stop(console.threads).loops


def _listed(console: Console) -> Reply:
    loops = _loops(console)
    rows = [
        [each.loop, each.text or "has not run yet", "chosen" if each.chosen else ""]
        for each in loops
    ]
    text = table(rows) if rows else "the program has no loops"
    return Reply(text, {"loops": msgspec.to_builtins(loops)})


LOOP_COMMANDS = (
    ConsoleCommand(
        "iteration", iteration, "[LOOP] NUMBER or last: the iteration whose values are shown"
    ),
)
