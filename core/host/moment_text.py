"""Moments of runs as people write them: "b1", "0:5/1:3", "b1@0:5"; a session for a branch."""

from __future__ import annotations

import re

from msgspec import structs

from gradstep.core.debug.concurrency.session_registry import Sessions
from gradstep.core.debug.motion.exact_place import parse_place
from gradstep.core.errors import GradstepError
from gradstep.core.graph.suggestions import instead
from gradstep.core.protocol.messages import Moment

_PLACE = r"\d{1,9}:\d{1,9}(?:/\d{1,9}:\d{1,9})*"
_MOMENT = re.compile(rf"(?P<name>[^@:]*?)@?(?P<place>{_PLACE})?")


def read_moment(sessions: Sessions, text: str) -> Moment:
    """The moment that is meant; "" is where the current session stands. Raises GradstepError for
    what cannot be read, and for a branch or session that there is not."""
    found = _MOMENT.fullmatch(text.strip())
    if found is None:
        raise GradstepError(
            f"'{text}' is no moment", kind="ValueError", hint="write b1, 0:5 or b1@0:5"
        )
    name, place = found["name"] or "", Moment()
    if there := parse_place(found["place"] or ""):
        (run, step), *inside = there
        place = Moment(run=run, step=step, inside=inside)
    branches = sessions.session.branches
    if not name or any(branch.name == name for branch in branches.all):
        return structs.replace(place, branch=name)
    if name in sessions.by_name:
        return structs.replace(place, session=name)
    known = dict.fromkeys((*(branch.name for branch in branches.all), *sessions.by_name))
    hint = instead(name, known)  # a branch and a session may be called the same
    raise GradstepError(f"no branch and no session is '{name}'", kind="KeyError", hint=hint)
