"""Holding two moments of the open document's runs against each other."""

from __future__ import annotations

from msgspec import structs

from gradstep.core.debug.concurrency.session_registry import Sessions
from gradstep.core.debug.concurrency.thread_branches import ThreadBranches
from gradstep.core.debug.motion.branches import Branches
from gradstep.core.host.device_services import DeviceServices
from gradstep.core.host.moment_values import branches_of, take
from gradstep.core.position_text import position_text
from gradstep.core.protocol.messages import CompareMoments, Comparison, Moment


def compare_moments(
    sessions: Sessions, request: CompareMoments, devices: DeviceServices
) -> Comparison:
    """Value by value, in the order of the run. Raises GradstepError."""
    first, second = _at_one_place(sessions, request.left, request.right)
    left, right = take(sessions, first), take(sessions, second)
    found = devices.compare_values(left, right)
    origin = _origin(sessions, request.left, request.right)
    sentences = [*found.sentences, *([origin] if origin else [])]
    return structs.replace(found, sentences=sentences, text=" ".join(sentences))


def _at_one_place(sessions: Sessions, left: Moment, right: Moment) -> tuple[Moment, Moment]:
    """Branches of one session as far as both have come, where no place is named; where one is, the
    other there, too."""
    if left.session != right.session or left.branch == right.branch:
        return left, right
    named = [moment for moment in (left, right) if moment.run >= 0]
    if len(named) == 2:
        return left, right
    branches = branches_of(sessions, left)
    one, other = (branches[m.branch or branches.current] for m in (left, right))
    if one.edits != other.edits:
        return _in_one_run(branches, left, right)
    if named:
        run, step, inside = named[0].run, named[0].step, named[0].inside
    else:
        run, step = min(branches.reached(m.branch or branches.current) for m in (left, right))
        inside = _inside(sessions, left, (run, step))
    first, second = (structs.replace(m, run=run, step=step, inside=inside) for m in (left, right))
    return first, second


def _inside(sessions: Sessions, moment: Moment, place: tuple[int, int]) -> list[tuple[int, int]]:
    """Where the session stands in the loop that comes at this place, if it does."""
    here, *inside = sessions[moment.session or sessions.current].session.stop.place
    return inside if here == place else []


def _in_one_run(
    branches: Branches | ThreadBranches, left: Moment, right: Moment
) -> tuple[Moment, Moment]:
    """Of branches that run other programs, whose steps have other numbers: as far as each has come
    in the last run that both have reached, or in the one that is named."""
    both = left, right
    reached = [branches.reached(moment.branch or branches.current) for moment in both]
    named = [moment.run for moment in both if moment.run >= 0]
    run = named[0] if named else min(reached)[0]
    first, second = (
        structs.replace(m, run=run, step=step if last == run else branches.length(m.branch))
        if m.run < 0
        else m
        for m, (last, step) in zip(both, reached, strict=True)
    )
    return first, second


def _origin(sessions: Sessions, left: Moment, right: Moment) -> str:
    """Where one branch leaves the other, with what."""
    if left.session != right.session:
        return ""
    branches = branches_of(sessions, left)
    names = [moment.branch or branches.current for moment in (left, right)]
    for name, other in (names, reversed(names)):
        branch = branches[name]
        if branch.parent == other:
            given = branch.words
            place = position_text([(branch.run, branch.step)])
            return f"{name} leaves {other} at {place}" + (f", with {given}." if given else ".")
    return ""
