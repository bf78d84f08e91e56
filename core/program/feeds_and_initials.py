"""The values that a document gives to placeholders and variables, as far as they fit."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter, is_
from types import MappingProxyType

import numpy as np

from gradstep.core.engine.run.feed_values import given_feeds
from gradstep.core.engine.run.variable_store import require_initial
from gradstep.core.errors import GradstepError
from gradstep.core.graph.carry_over import stay_in
from gradstep.core.graph.model import Constant, Graph, TensorRef
from gradstep.core.graph.problems import Problem

_ARRAY = attrgetter("array")
_NOTHING: Mapping[str, np.ndarray] = MappingProxyType({})


def fit_feeds(
    graph: Graph, feeds: Mapping[str, Constant]
) -> tuple[dict[TensorRef, np.ndarray], list[Problem]]:
    """Feeds by tensor, as the graph takes them, and a problem for each that does not fit."""
    fitting: dict[TensorRef, np.ndarray] = {}
    problems: list[Problem] = []
    for name, value in feeds.items():
        try:
            fitting.update(given_feeds(graph, {name: value.array}))
        except GradstepError as error:
            problems.append(Problem.of(error, "feed"))
    return fitting, problems


def fit_initial(
    graph: Graph,
    initial: Mapping[str, Constant],
    before: Graph | None = None,
    known: Mapping[str, np.ndarray] = _NOTHING,
) -> tuple[dict[str, np.ndarray], list[Problem]]:
    """Initial values by variable, and a problem for each that fits none. known: those that fitted
    the graph `before`."""
    arrays = [*map(_ARRAY, initial.values())]
    same = before is not None and all(map(is_, map(known.get, initial), arrays))
    if same and before is not None and stay_in(graph, before, initial.keys()):
        return dict(zip(initial, arrays, strict=True)), []  # nearly always so, and found in C
    fitting: dict[str, np.ndarray] = {}
    problems: list[Problem] = []
    then, now = {} if before is None else before.operations, graph.operations
    for name, value in initial.items():
        array = value.array
        if known.get(name) is array and then.get(name) is now.get(name):
            fitting[name] = array
            continue
        try:
            require_initial(graph, name, array)
        except GradstepError as error:
            problems.append(Problem.of(error, "initial"))
        else:
            fitting[name] = array
    return fitting, problems
