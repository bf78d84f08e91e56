"""The values that a document gives to placeholders and variables, as far as they fit."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gradstep.core.engine.run.feed_values import feed_arrays
from gradstep.core.engine.run.variable_store import require_initial
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant, Graph, TensorRef
from gradstep.core.graph.problems import Problem


def fit_feeds(
    graph: Graph, feeds: Mapping[str, Constant]
) -> tuple[dict[TensorRef, np.ndarray], list[Problem]]:
    """Feeds by tensor, as TensorFlow converts them, and a problem for each that it refuses."""
    fitting: dict[TensorRef, np.ndarray] = {}
    problems: list[Problem] = []
    for name, value in feeds.items():
        try:
            fitting.update(feed_arrays(graph, {name: value.array}))
        except GradstepError as error:
            problems.append(Problem.of(error, "feed"))
    return fitting, problems


def fit_initial(
    graph: Graph, initial: Mapping[str, Constant]
) -> tuple[dict[str, np.ndarray], list[Problem]]:
    """Initial values by variable, and a problem for each that fits none."""
    fitting: dict[str, np.ndarray] = {}
    problems: list[Problem] = []
    for name, value in initial.items():
        try:
            require_initial(graph, name, value.array)
        except GradstepError as error:
            problems.append(Problem.of(error, "initial"))
        else:
            fitting[name] = value.array
    return fitting, problems
