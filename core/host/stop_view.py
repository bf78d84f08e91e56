"""What there is to see where the debugger stands: said with the stop, so that nobody has to ask."""

from __future__ import annotations

import time
from collections.abc import Callable

from gradstep.core.debug.concurrency.session_registry import Sessions
from gradstep.core.host.session_answers import infos
from gradstep.core.host.step_words import notate
from gradstep.core.host.tensor_reads import known_in, read
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import BrokenNumbers, Look, Read, Seen

BLINK = 0.01  # seconds for values, after which those that are left are to be asked for

Survey = Callable[[float], BrokenNumbers]


def see(sessions: Sessions, look: Look, survey: Survey) -> tuple[Seen, tuple[Buffer, ...]]:
    """What `look` asks for, with the buffers of the values. survey: what is known of NaN and
    infinity in the run after so many seconds more. Raises GradstepError."""
    session = sessions.session.session
    request, until = Read(refs=look.refs, limit=look.limit), time.monotonic() + BLINK
    values, buffers = read(request, known_in(session.program.graph), session.view(), until)
    said = notate(session, look.ops)
    steps = [] if said.problems else said.steps
    listed = infos(sessions) if look.sessions else None
    broken = survey(look.survey) if look.survey else None
    hits = [*session.hit_counts]
    seen = Seen(parts=values.parts, steps=steps, sessions=listed, broken=broken, hits=hits)
    return seen, buffers
