"""Races of a run, said as problems at the operations that read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.races import Race, may_race, races
from gradstep.core.engine.run.feed_values import feed_arrays, infer_fed_types
from gradstep.core.errors import GradstepError
from gradstep.core.graph.problems import Problem
from gradstep.core.name_list import name_list

_MOST = 12  # problems that are said one by one
_NAMED = 3  # operations that one problem names at each end


def race_problems(program: Program, plan: Plan) -> list[Problem]:
    """A warning for each variable and operation that writes it in runs of `plan`, `program`'s,
    while others use it that have no place before it or after."""
    groups: dict[tuple[object, ...], list[Race]] = {}
    for race in races(plan, program.forward):
        groups.setdefault(_group(race), []).append(race)
    found = [_problem(group) for group in islice(groups.values(), _MOST)]
    rest = len(groups) - len(found)
    if rest > 0:
        text = f"and {rest} more updates of variables have no order against what else uses them"
        found.append(Problem("", "race", text, "run them in runs of their own", "warning"))
    return found


def problems_of(session: DebugSession) -> list[Problem]:
    """What is wrong with the program that runs there, and with the runs that it makes; races only
    where the program, one that is not finished, does not say them itself."""
    known = session.program.problems
    said = any(problem.code == "race" for problem in known)
    return [*known, *(() if said else race_problems(session.program, session.plan))]


def races_of(program: Program) -> list[Problem]:
    """`race_problems` of the runs that the program makes; none where it cannot be run at all."""
    if not may_race(program.graph, program.forward.operations, _run_by(program)):
        return []  # no plan has to be made for this
    try:
        types = infer_fed_types(feed_arrays(program.graph, program.feeds))
        plan = compile_plan(program.graph, program.fetches, program.targets, types)
    except GradstepError:
        return []
    return race_problems(program, plan)


def _run_by(program: Program) -> Iterator[str]:
    """The operations that runs are asked for."""
    return chain(program.targets, (ref.op for ref in program.fetches))


def _writer(race: Race) -> str:
    """The end that writes; of two the later."""
    return race.second if race.writes[1] else race.first


def _other(race: Race) -> str:
    return race.first if race.writes[1] else race.second


def _group(race: Race) -> tuple[object, ...]:
    return race.variable, _writer(race), race.writes, race.fetched


def _problem(group: Sequence[Race]) -> Problem:
    race = group[0]
    say = _two_writers if all(race.writes) else _fetch if race.fetched else _reads
    text, fix = say(race, _writer(race), [_other(one) for one in group])
    return Problem(_other(race), "race", text, fix, "warning")


def _reads(race: Race, writer: str, readers: Sequence[str]) -> tuple[str, str]:
    who, plural = _names(readers), len(readers) > 1
    here = "before" if race.writes[1] else "after"
    text = (
        f"no path orders {who}, which read{'' if plural else 's'} '{race.variable}', and "
        f"'{writer}', which writes it: TensorFlow may read the value before or after. This run "
        f"reads the one {here}"
    )
    return text, _waiting(writer, who)


def _waiting(writer: str, who: str) -> str:
    return (
        f"for the value before, let '{writer}' run after {who} (a control dependency); for the one "
        "after, the other way round"
    )


def _fetch(race: Race, writer: str, fetched: Sequence[str]) -> tuple[str, str]:
    who = _names(fetched)
    text = (
        f"no path orders the fetch of {who}, which is '{race.variable}' itself, and '{writer}', "
        "which writes it: TensorFlow may give the value before or after. This run gives the one "
        "at its end"
    )
    return text, f"fetch what '{writer}' gives, or fetch {who} in a run of its own"


def _two_writers(race: Race, writer: str, others: Sequence[str]) -> tuple[str, str]:
    who = _names([*others, writer])
    if race.adds:
        text = (
            f"no path orders {who}, which add to '{race.variable}', and not all of them lock it: "
            "TensorFlow may lose what one of them adds. This run adds it all"
        )
        return text, "set use_locking of each, or let one run after the other"
    text = (
        f"no path orders {who}, which write '{race.variable}': in TensorFlow any of them may be "
        f"the last. In this run '{writer}' is"
    )
    return (
        text,
        "let one run after the other (a control dependency), or run them in runs of their own",
    )


def _names(names: Sequence[str]) -> str:
    """'a', 'b' and 2 more."""
    return name_list([f"'{name}'" for name in names], _NAMED)
