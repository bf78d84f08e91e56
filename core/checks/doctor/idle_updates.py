"""Updates of variables that nothing executes: forgotten moving averages, and any other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gradstep.core.autodiff.recognition.imported_request import find_written_variables
from gradstep.core.checks.doctor.examined_document import Examined, reads_only
from gradstep.core.checks.doctor.finding_words import listed, plural, within
from gradstep.core.checks.doctor.lint import Finding
from gradstep.core.graph.model import Operation, Phase
from gradstep.core.ops.declare.optimizer_table import UPDATES

_AVERAGING = ("Assign", "AssignSub", "AssignAdd")
_NEAR = 32  # operations before an update that are looked at: a formula, and no network
_RESTORES = frozenset({"Restore", "RestoreSlice", "RestoreV2"})


def find_forgotten_averages(x: Examined) -> Iterator[Finding]:
    """Those of statistics that a loss is computed from, as batch normalisation keeps them, one
    finding for each scope that has some."""
    run = _trained_with(x)
    idle = [op for op in _updates(x) if op.name not in run and _is_average(x, op)]
    for scope, ops in _by_scope(idle).items():
        names, averages = [op.name for op in ops], [v for op in ops for v in _written(x, op)]
        text = (
            f"{listed(within(scope, names))} {plural(names, 'moves', 'move')} "
            f"{listed(within(scope, averages))} after the "
            f"statistics of each batch, and {_nobody(x, names)}: "
            f"{plural(averages, 'it stays', 'they stay')} as {plural(averages, 'it', 'they')} "
            f"began, and what normalises with {plural(averages, 'it', 'them')} later gets numbers "
            "that were never learned"
        )
        yield _with_remedy(x, names, text)


def find_idle_updates(x: Examined) -> Iterator[Finding]:
    """All others that would make something new of what there is: what only gives a variable its
    first value, or one from a file, waits to be asked."""
    for op in _updates(x):
        if op.name in x.executed or _is_average(x, op) or _is_initial(x, op):
            continue
        name, variable = within(op.scope, [op.name, *_written(x, op)])[:2]
        text = (
            f"{name} ({op.type}) changes {variable}, and no run executes it, as nothing that is "
            f"fetched, differentiated or trained needs it: {variable} stays as it is"
        )
        fix = "let runs execute it, or something that they compute wait for it"
        yield Finding(op.name, text, fix, "info", x.running(op.name))


def _updates(x: Examined) -> Iterator[Operation]:
    """The document's own, but for those inside of loops."""
    movers = {name for names in x.moved.values() for name in names}
    return (op for op in x.drawn if op.name in movers)


def _written(x: Examined, op: Operation) -> list[str]:
    return find_written_variables(op, x.graph)


def _trained_with(x: Examined) -> set[str]:
    """What is executed where variables are trained. Of an imported graph every end is run here, as
    nobody knows what its program ran: there what its training leads to and needs."""
    trains = [
        name
        for name in (op.name for op in x.drawn if op.phase is Phase.UPDATE)
        if x.graph[name].type.startswith(UPDATES)
    ]
    if not x.document.imported or not trains:
        return x.executed
    ends = x.graph.descendants(*trains) | {ref.op for ref in x.losses}
    return x.graph.ancestors(ends)


def _is_average(x: Examined, op: Operation) -> bool:
    """Whether it moves a variable that is not trained towards something that a loss is computed
    from, and that is more than other variables."""
    if not op.type.removesuffix("VariableOp").startswith(_AVERAGING) or len(op.inputs) != 2:
        return False
    (variable, *others) = _written(x, op)
    value = op.inputs[1]
    if others or value is None or variable in x.wanted_names:
        return False
    near = x.nearest_sources(value, _NEAR)
    statistics = (x.graph[other] for other in near if other in x.behind_losses)
    return variable in near and any(map(_is_statistic, statistics))


def _is_statistic(op: Operation) -> bool:
    return bool(op.inputs) and not reads_only(op)


def _is_initial(x: Examined, op: Operation) -> bool:
    """Whether it makes a value of nothing that changes, or has it from a file; of other variables
    alone where it copies them, as a target network does now and then."""
    value = op.inputs[1] if len(op.inputs) > 1 else None
    if value is None or op.type.removesuffix("VariableOp") != "Assign":
        return False
    behind = [x.graph[name] for name in x.nearest_sources(value, _NEAR)]
    if any(other.type in _RESTORES for other in behind):
        return True
    return len(behind) < _NEAR and all(
        o.type != "Placeholder" and not x.is_variable(o.name) for o in behind
    )


def _nobody(x: Examined, names: list[str]) -> str:
    if names[0] in x.executed:
        return f"no training operation waits for {plural(names, 'it', 'them')}"
    return f"no run executes {plural(names, 'it', 'them')}"


def _with_remedy(x: Examined, names: list[str], text: str) -> Finding:
    """What to do, and the edit: runs of this document may execute them already, where those of the
    program that made it do not."""
    if names[0] not in x.executed:
        fix = "let every run execute them, or let the loss wait for them (a control dependency)"
        return Finding(names[0], text, fix, remedy=x.running(*names))
    fix = (
        "let the training operation wait for them: tf.control_dependencies(tf.get_collection("
        "tf.GraphKeys.UPDATE_OPS)). Where the program runs them by name, exempt it from this"
    )
    return Finding(names[0], text, fix)


def _by_scope(ops: Iterable[Operation]) -> Mapping[str, list[Operation]]:
    found: dict[str, list[Operation]] = {}
    for op in ops:
        found.setdefault(op.scope, []).append(op)
    return found
