"""The gradients and updates that a document asks for, added to its program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import filterfalse
from operator import itemgetter
from typing import TypeVar

from gradstep.core.autodiff.reverse.differentiate import Differentiation, differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.autodiff.reverse.gradient_rules import GradientFunction
from gradstep.core.autodiff.reverse.tf_gradients import get_gradient
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.document.requests import loss_of, requests, trained_variables
from gradstep.core.errors import GradstepError, only_errors_of_ours
from gradstep.core.graph.carry_over import continue_graph, remember_edit
from gradstep.core.graph.changes import Changes
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Graph, Operation, Phase, TensorRef
from gradstep.core.graph.problems import UNFINISHED, WAITING, Problem
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.build.indexed_slices import IndexedSlices
from gradstep.core.ops.build.used_names import names_of
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.ops.declare.attribute_kinds import attribute
from gradstep.core.ops.typing.inference import (
    Inference,
    Inferrer,
    declare,
    has_loops,
    infer_declared,
)
from gradstep.core.persistent.edited_columns import Table, joined_once
from gradstep.core.persistent.spliced_mapping import copied
from gradstep.core.program.acyclic_part import refuse_broken, refuse_cyclic
from gradstep.core.train.optimizers import Pair, UpdateRecord, Updates, apply_updates
from gradstep.core.train.training_settings import read_settings
from gradstep.core.train.update_reuse import Given

Gradient = Tensor | IndexedSlices
Found = tuple[Program, list[Problem]]

_FLOATING = frozenset(dtype for dtype in DType if dtype.is_floating)
_K = TypeVar("_K")
_V = TypeVar("_V")


def with_training(
    program: Program,
    document: Document,
    broken: Mapping[str, Problem],
    rules: Mapping[str, GradientFunction],
    previous: Program | None,
) -> Found:
    """`program` with all gradients and updates that can be made, and what is wrong with the rest.

    broken: see `broken_operations`; rules: custom gradients by name; previous: see `derive`."""
    asked = requests(document)
    idle = [_nothing_to_minimize(o) for o in document.optimizers if not loss_of(document, o)]
    if not asked:
        return program, idle
    # Scopes of gradients that are empty after an edit keep their names: nobody else asks for them.
    among = any(o.name.lower().startswith("gradients") for o in document.optimizers)
    last = () if previous is None or among else _own(previous)
    of = [ref for request in asked if _is_run(document, request) for ref in request.of]
    there = [ref for ref in of if ref.op in program.graph]
    fetches = tuple(dict.fromkeys((*there, *program.fetches)))
    updates = {} if previous is None else previous.updates
    program = replace(program, request=asked[0], remembered=last, updates=updates, fetches=fetches)
    derived, problems = _derived(program, document, broken, rules, asked)
    problems += idle
    if not derived:
        return program, problems
    whole, program = program.graph, _with_gradients(program, document, derived, previous)
    program, more = _with_updates(program, document, previous)
    graph = _beside(program.graph, whole) if broken else program.graph
    return replace(program, graph=graph), [*problems, *more]


def _own(program: Program) -> tuple[Differentiation, ...]:
    """The gradients that were derived, now or the last time that this could be done."""
    return tuple(one for one in program.derived if not one.imported) or program.remembered


def _derived(
    program: Program,
    document: Document,
    broken: Mapping[str, Problem],
    rules: Mapping[str, GradientFunction],
    asked: Sequence[GradientRequest],
) -> tuple[list[Differentiation], list[Problem]]:
    """Each request's gradients beside those of the others, on the forward graph alone."""
    last, holds = program.remembered, [_what_holds(request, broken) for request in asked]
    if None not in holds:
        waiting = zip(asked, filter(None, holds), strict=True)
        return [], [_waits(request, held) for request, held in waiting]
    sound = _continued(sound_part(program.graph, broken), last)
    derived: list[Differentiation] = []
    problems: list[Problem] = []
    for number, (request, scope) in enumerate(zip(asked, _scopes(sound), strict=False)):
        if (held := holds[number]) is not None:
            problems.append(_waits(request, held))
            continue
        request = _of_what_is_finished(request, broken)
        try:
            refuse_cyclic((*request.of, *request.wrt), document.graph, program.graph)
            refuse_broken((*request.of, *request.wrt), broken)
            before = last[number] if number < len(last) else None
            with only_errors_of_ours(f"the gradient of {_named(request)} could not be derived"):
                derived.append(differentiate(sound, request, rules, before, scope))
        except GradstepError as error:
            problem = Problem.of(error, "gradient")
            problems.append(problem if _is_run(document, request) else _remarked(problem))
    return derived, problems


def _what_holds(request: GradientRequest, broken: Mapping[str, Problem]) -> Problem | None:
    """What has to be finished before there is a gradient of what is asked for, if anything."""
    blames = (broken.get(ref.op) for ref in request.of)
    return next((b for b in blames if b is not None and b.code in UNFINISHED), None)


def _waits(request: GradientRequest, held: Problem) -> Problem:
    """That there is no gradient until something is finished: no mistake."""
    text = f"the gradient of {_named(request)} waits for {held.node}: {held.text}"
    return Problem(held.node, WAITING, text, held.fix, severity="info")


def _named(request: GradientRequest) -> str:
    return ", ".join(f"'{ref.short}'" for ref in request.of)


def _of_what_is_finished(
    request: GradientRequest, broken: Mapping[str, Problem]
) -> GradientRequest:
    """The request with respect to what is drawn to its end."""
    unfinished = {name for name, blame in broken.items() if blame.code in UNFINISHED}
    if not unfinished or not any(ref.op in unfinished for ref in request.wrt):
        return request
    return replace(request, wrt=tuple(ref for ref in request.wrt if ref.op not in unfinished))


def _remarked(problem: Problem) -> Problem:
    """As no error: of what runs would not compute, as an optimizer that is switched off."""
    return replace(problem, severity="warning")


def _scopes(graph: Graph) -> Iterator[str]:
    """`gradients`, `gradients_1`, … as they are free in `graph`."""
    names = names_of(graph)
    while True:
        scope = names.unique("gradients")
        names.open(scope)
        yield scope


def _with_gradients(
    program: Program,
    document: Document,
    derived: Sequence[Differentiation],
    previous: Program | None,
) -> Program:
    edges = first_entries(d.edges for d in derived)
    blocked = first_entries(d.blocked for d in derived)
    run = [d for d in derived if _is_run(document, d)]
    # What an iteration of a loop computes cannot be fetched.
    gradients = (_fetchable(d, program.forward) for d in run)
    last = () if previous is None else previous.fetches
    return replace(
        program,
        graph=_together(derived),
        derived=tuple(derived),
        remembered=(),
        gradients=first_entries(d.gradients for d in derived),
        slices=first_entries(d.slices for d in derived),
        edges=edges,
        blocked={edge: why for edge, why in blocked.items() if edge not in edges},
        custom=first_entries(d.custom for d in derived),
        fetches=joined_once((program.fetches, *gradients), last),
        initial={**first_entries(d.initial for d in derived), **program.initial},
    )


def _fetchable(derived: Differentiation, forward: Graph) -> Sequence[TensorRef]:
    there, gradients = derived.graph.operations, derived.gradients
    if has_loops(forward):
        return [ref for ref in gradients.values() if ref.op in there]
    return gradients.held if isinstance(gradients, Table) else [*gradients.values()]


def _together(derived: Sequence[Differentiation]) -> Graph:
    """The gradient operations of all, after the forward graph that they share."""
    first, *others = (d.graph for d in derived)
    if not others:
        return first
    builder = GraphBuilder(first)
    for graph in others:
        names = [name for name in graph.operations if not builder.has(name)]
        builder.repeat(graph, names)
    return builder.build(goes_on=True)


def first_entries(maps: Iterable[Mapping[_K, _V]]) -> Mapping[_K, _V]:
    """All entries; of those with one key the first."""
    found, *others = maps
    if not others:
        return found
    merged = dict(found)
    for other in others:
        merged = {**other, **merged}
    return merged


def _is_run(document: Document, asked: GradientRequest | Differentiation) -> bool:
    """Whether runs compute these gradients: they are not only a switched-off optimizer's."""
    return asked.of == document.request.of or any(
        o.enabled and loss_of(document, o) == asked.of for o in document.optimizers
    )


# -- updates -----------------------------------------------------------------------------------


def _with_updates(program: Program, document: Document, previous: Program | None) -> Found:
    """Every optimizer's updates after all gradients, so that these are of the same values."""
    before = None if previous is None else previous.graph
    problems: list[Problem] = []
    updated: Counter[str] = Counter()
    derived = {d.of: d for d in program.derived}
    last = {} if previous is None else previous.updates
    # Those that cannot be made now are remembered for when they can.
    made = {n: last[n] for n in range(len(document.optimizers)) if n in last}
    for number, optimizer in enumerate(document.optimizers):
        of = loss_of(document, optimizer)
        if of not in derived:
            continue  # why not has been said
        base = program.graph
        try:
            with only_errors_of_ours(f"the updates of {optimizer.type} could not be made"):
                about = document, optimizer, derived[of]
                given = _given(*about)
                base, graph, updates = _make_updates(base, *about, given, last.get(number), before)
        except GradstepError as error:
            problem = Problem.of(error, "optimizer")
            problems.append(problem if optimizer.enabled else _remarked(problem))
            continue
        program = _with_operations(program, graph, updates, optimizer.enabled)
        if (record := updates.record(graph, base, given)) is not None:
            made[number] = record
        else:
            made.pop(number, None)
        updated.update(updates.variables if optimizer.enabled else ())
    return replace(program, updates=made), [*problems, *_updated_twice(updated)]


def _make_updates(
    base: Graph,
    document: Document,
    optimizer: Optimizer,
    derived: Differentiation,
    given: Given | None,
    last: UpdateRecord | None,
    before: Graph | None,
) -> tuple[Graph, Graph, Updates]:
    """Upon `base`, which comes first of what is returned, as it is known. given: see there. last:
    how it was done before an edit, if it was; before: the whole graph then, whose operations are
    taken where others like them are made."""
    name = optimizer.name or "train"
    if last is not None:
        base = continue_graph(base, last.base)
        graph = None if given is None else last.repeat(base, name, given)
        if graph is not None:
            return base, graph, last.updates
    again = None if last is None else last.rebuild(base, name)
    builder = again or GraphBuilder(base, before)
    try:
        builder.names.begin_log()
        pairs = _pairs(builder, derived, document, optimizer)
        settings = read_settings(optimizer.schedule, optimizer.clip, optimizer.decay)
        updates = apply_updates(
            builder, optimizer.type, optimizer.hyper, pairs, name, last, settings
        )
    except GradstepError:
        if last is None or not builder.names.met_kept:
            raise
    else:
        if last is None or not builder.names.met_kept:
            return base, builder.finish(updates.order), updates
    return _make_updates(base, document, optimizer, derived, given, None, before)


def _given(document: Document, optimizer: Optimizer, derived: Differentiation) -> Given | None:
    """What updates follow from; None where it is more than gradients as they are."""
    if derived.slices or optimizer.scales:
        return None
    return Given(optimizer, trained_variables(document, optimizer), derived.gradients)


def _with_operations(program: Program, graph: Graph, updates: Updates, run: bool) -> Program:
    return replace(
        program,
        graph=graph,
        targets=(*program.targets, *(updates.targets if run else ())),
        # Where that is all, the very same as before an edit, which is seen at once.
        initial={**updates.initial, **program.initial} if program.initial else updates.initial,
        slots=_with_slots(program.slots, updates.slots),
        rates=(*program.rates, *((updates.rate,) if run and updates.rate else ())),
    )


def _with_slots(
    slots: Mapping[str, tuple[str, ...]], new: Mapping[str, tuple[str, ...]]
) -> Mapping[str, tuple[str, ...]]:
    """Those of each variable, and behind them its new ones."""
    if not slots:
        return new
    return {**slots, **{name: (*slots.get(name, ()), *more) for name, more in new.items()}}


def _pairs(
    builder: GraphBuilder, derived: Differentiation, document: Document, optimizer: Optimizer
) -> list[Pair]:
    """The variables that have a gradient, with it; as in TensorFlow one without is passed over.

    Raises GradstepError when none has, in TensorFlow's words."""
    variables = _trainable(document, optimizer)
    held = zip(variables, map(derived.gradients.get, variables), strict=True)
    if derived.slices or optimizer.scales:
        pairs: list[Pair] = [
            (ref.op, _scaled(builder, _gradient(builder, derived, ref), optimizer, ref.op))
            for ref, gradient in held
            if gradient is not None
        ]
    else:
        pairs = [(ref.op, Tensor(builder, gradient)) for ref, gradient in held if gradient]
    if pairs:
        _require_floating(map(document.graph.operations.__getitem__, map(itemgetter(0), pairs)))
        return pairs
    names = ", ".join(f"'{ref.op}'" for ref in variables)
    losses = ", ".join(ref.short for ref in derived.of)
    raise GradstepError(
        "No gradients provided for any variable, check your graph for ops that do not support "
        f"gradients, between variables [{names}] and loss {losses}.",
        kind="ValueError",
        hint="ask why the gradient of a variable is None",
    )


def _trainable(document: Document, optimizer: Optimizer) -> list[TensorRef]:
    """What the optimizer updates. Raises GradstepError for nothing, for what is no variable, and
    for one that is listed twice."""
    graph, found = document.graph, list(trained_variables(document, optimizer))
    for ref in found:
        if graph[ref.op].type not in VARIABLES:
            raise GradstepError(
                f"Trying to update a Tensor {ref}",
                kind="NotImplementedError",
                node=ref.op,
                hint="an optimizer's var_list is variables",
            )
    if not found:
        hint = "draw a variable between its inputs and the loss"
        raise GradstepError("No variables to optimize.", kind="ValueError", hint=hint)
    if len(set(found)) < len(found):
        twice = next(ref for ref, count in Counter(found).items() if count > 1)
        raise GradstepError(
            f"{optimizer.type} would update '{twice.op}' twice in every run",
            kind="ValueError",
            node=twice.op,
            hint="list it once in its var_list",
        )
    return found


def _require_floating(variables: Iterable[Operation]) -> None:
    """Raise GradstepError, in TensorFlow's words, for a variable that no optimizer can move."""
    for op in variables:
        if op.attrs.get("dtype") in _FLOATING:  # nearly always so
            continue
        dtype = attribute(op, "dtype", DType)
        if not dtype.is_floating:
            raise GradstepError(
                f"Invalid type tf.{dtype.value} for {op.output()}, expected: [tf.float16, "
                "tf.float32, tf.float64].",
                kind="ValueError",
                node=op.name,
                hint="give the variable floating-point numbers, or leave it out of the optimizer's",
            )


def _gradient(builder: GraphBuilder, derived: Differentiation, ref: TensorRef) -> Gradient:
    """The gradient as the optimizer takes it: rows where they are all that there is to it."""
    dense = Tensor(builder, derived.gradients[ref])
    if ref not in derived.slices or not dense.shape.is_static:
        return dense
    return get_gradient(builder, derived, ref) or dense


def _scaled(
    builder: GraphBuilder, gradient: Gradient, optimizer: Optimizer, variable: str
) -> Gradient:
    """`scale * gradient` where the optimizer has a scale for the variable."""
    scale = optimizer.scales.get(variable)
    if scale is None:
        return gradient
    with builder.belonging_to(variable, Phase.UPDATE), builder.scope(f"scale_{variable}"):
        if isinstance(gradient, IndexedSlices):
            return replace(gradient, values=_times(builder, scale, gradient.values))
        return _times(builder, scale, gradient)


def _times(builder: GraphBuilder, scale: float, gradient: Tensor) -> Tensor:
    factor = builder.constant(scale, gradient.dtype, name="x")
    return builder.one("Mul", factor, gradient, name="mul")


def _nothing_to_minimize(optimizer: Optimizer) -> Problem:
    text, fix = f"{optimizer.type} has nothing to minimize", "choose its loss"
    return Problem("", "optimizer", text, fix, severity="warning")


def _updated_twice(updated: Counter[str]) -> list[Problem]:
    if updated.total() == len(updated):
        return []  # nearly always so, and said in C
    return [
        Problem(
            name,
            "updated-twice",
            f"{count} optimizers update '{name}' in every run, one after the other; TensorFlow "
            "does it in any order",
            "give each optimizer a var_list of its own, or switch all but one off",
            severity="warning",
        )
        for name, count in updated.items()
        if count > 1
    ]


def sound_part(graph: Graph, broken: Collection[str]) -> Graph:
    """`graph` without what is broken, of which nothing else has need; of what is left is known what
    was."""
    gone = frozenset(filter(graph.operations.__contains__, broken))
    if not gone:
        return graph
    operations, known = copied(graph.operations), infer_declared(graph)
    still = Inferrer(known)
    still.expect(len(gone))
    for name in gone:
        del operations[name]
        still.forget(name)
    left = Graph(operations)
    remember_edit(left, graph, Changes(removed=gone))
    if not {problem.node for problem in known.problems} - gone:
        declare(left, Inference(still.types, still.constants))
    return left


def _continued(sound: Graph, last: Sequence[Differentiation]) -> Graph:
    """`sound` as what the gradients before an edit were derived of, after the edit."""
    record = last[0].record if last else None
    return sound if record is None else continue_graph(sound, record.slice.graph)


def _beside(derived: Graph, whole: Graph) -> Graph:
    """`derived`, and after it what `whole` has besides: the operations that are not sound."""
    there = derived.operations
    if there.keys() >= whole.operations.keys():
        return derived
    missing = filterfalse(there.__contains__, whole.operations)
    rest = {name: whole.operations[name] for name in missing}
    operations = copied(there)
    operations.update(rest)
    graph, known, found = Graph(operations), infer_declared(derived), infer_declared(whole)
    both = Inferrer(known)
    both.expect(len(rest))
    for name in rest:
        if name in found.types.of:
            both.put(name, found.types.of[name], found.constants.get(name))
    declare(graph, Inference(both.types, both.constants, (*known.problems, *found.problems)))
    return graph
