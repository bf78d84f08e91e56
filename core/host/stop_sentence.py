"""Where a debugger stands, in a line or few."""

from __future__ import annotations

from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.motion.stopped_state import Reason
from gradstep.core.errors import error_text
from gradstep.core.protocol.messages import Stopped


def stop_text(threads: Scheduler, said: Stopped) -> str:
    """`[step] run 1, step 2 of 25 · forward · e: c + k`, and below it what failed, or what it waits
    for. said: the report on it."""
    stop = threads.stop
    total = len(threads.session.plan.steps)
    thread = f"{threads.current}: " if said.threads else ""
    thread += f"{threads.branches.current}: " if said.branches else ""
    text = f"[{stop.reason}] {thread}run {stop.run + 1}, step {stop.step} of {total}"
    text += f" · {stop.batch}" if stop.batch else ""
    text += "".join(f" · {x.text}, step {x.step} of {x.length}" for x in stop.inside)
    if stop.op:
        text += f" · {stop.phase} · {stop.node}: {said.text or stop.op}"
    if stop.error is not None:
        happened = "waits" if stop.reason == Reason.BLOCKED else "failed"
        text += f"\n  {happened}: {error_text(stop.error)}"
    return text
