"""Who of a program's threads waits for whom, and how each of them is."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep.core.debug.concurrency.scheduled_thread import ScheduledThread
from gradstep.core.debug.concurrency.thread_state import Condition, ThreadState
from gradstep.core.engine.run.blocked_on_queue import alone, way_out
from gradstep.core.errors import GradstepError


def involved(member: ScheduledThread, members: Sequence[ScheduledThread]) -> list[ScheduledThread]:
    """It, who can end what it waits for, who can end what those wait for, and so on."""
    found = [member]
    for one in found:  # which becomes longer meanwhile
        if one.blocked:
            found += [m for m in members if m.helps(one) and m not in found]
    return [m for m in members if m in found]


def deadlock(member: ScheduledThread, members: Sequence[ScheduledThread]) -> str:
    """Who waits for what, where all do, or all that `member` depends on; else ""."""
    everyone = [m for m in members if m.has_more]
    for some in (everyone, involved(member, members)):
        left = [m for m in some if not m.failed]
        if len(left) > 1 and all(m.blocked for m in left):
            return "deadlock: " + "; ".join(m.wish for m in left)
    return ""


def said(member: ScheduledThread, members: Sequence[ScheduledThread]) -> GradstepError:
    """What `member` waits for, and what can be done."""
    error = member.waits
    assert error is not None
    step = member.session.plan.steps[member.session.stop.step]
    if text := deadlock(member, members):
        hint = "restart, and let one of them put in or take out less, or give a queue more room"
        return GradstepError(text, kind=error.kind, node=step.op.name, hint=hint)
    helpers = [m.name for m in members if m.helps(member)]
    if not helpers:
        hint = way_out(member.session.plan.graph, member.queue, error, step)
        return GradstepError(alone(error), kind=error.kind, node=step.op.name, hint=hint)
    hint = f"continue: all threads go on in turn; or step {' or '.join(helpers)}"
    return GradstepError(error.message, kind=error.kind, node=step.op.name, hint=hint)


def state(
    member: ScheduledThread, members: Sequence[ScheduledThread], current: bool
) -> ThreadState:
    """How `member` is among the `members`. current: commands move it."""
    stop = member.session.stop
    condition, text = _condition(member, members)
    return ThreadState(
        name=member.name,
        condition=condition,
        text=text,
        run=stop.run,
        step=stop.step,
        steps=member.session.timeline.length,
        op=stop.op,
        current=current,
    )


def _condition(
    member: ScheduledThread, members: Sequence[ScheduledThread]
) -> tuple[Condition, str]:
    if member.ended is not None:
        return Condition.FINISHED, member.ended.message
    if member.failed and member.session.stop.error is not None:
        return Condition.FAILED, member.session.stop.error.message
    if member.blocked and member.waits is not None:
        stuck = Condition.DEADLOCK if deadlock(member, members) else Condition.BLOCKED
        return stuck, member.waits.lack
    return Condition.READY, ""
