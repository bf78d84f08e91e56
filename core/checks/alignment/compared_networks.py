"""Two networks as they are compared: their runs, what meets in them, and what is lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from gradstep.core.checks.alignment.network_run import NetworkRun, Values
from gradstep.core.checks.alignment.parted_values import lost_values
from gradstep.core.checks.alignment.value_matching import Matching, Pairs, match
from gradstep.core.graph.model import TensorRef


@dataclass(frozen=True, eq=False)
class ComparedNetworks:
    """FILE's on the left, OTHER's on the right; what there is of both is a pair in this order.

    weights: which are which. forced: what OTHER is given in place of its own values.
    """

    runs: tuple[NetworkRun, NetworkRun]
    weights: Matching
    tolerance: float
    forced: Values = field(default_factory=dict)

    @classmethod
    def of(cls, runs: tuple[NetworkRun, NetworkRun], tolerance: float) -> ComparedNetworks:
        """As they are."""
        left, right = runs
        weights = match((left.graph, left.weights), (right.graph, right.weights), tolerance)
        return cls(runs, weights, tolerance)

    def with_forced(self, ref: TensorRef, value: np.ndarray) -> ComparedNetworks:
        """The same where a tensor of OTHER has this value, too."""
        return replace(self, forced=self._forced_too(ref, value))

    def values_with(self, ref: TensorRef, value: np.ndarray) -> Values:
        """What OTHER computes then. Raises GradstepError."""
        return self.runs[1].values_with(self._forced_too(ref, value))

    @cached_property
    def values(self) -> tuple[Values, Values]:
        """What is computed."""
        left, right = self.runs
        return left.computed, right.values_with(self.forced) if self.forced else right.computed

    @cached_property
    def matching(self) -> Matching:
        """Which of the values are which."""
        left, right = self.runs
        mine, theirs = self.values
        return match((left.graph, mine), (right.graph, theirs), self.tolerance)

    @property
    def partners(self) -> tuple[Pairs, Pairs]:
        """Of a tensor of each side, those that it meets on the other."""
        return self.matching.right, self.matching.left

    @cached_property
    def lost(self) -> tuple[tuple[TensorRef, ...], tuple[TensorRef, ...]]:
        """See `lost_values`."""
        left, right = (
            lost_values(run, values, met)
            for run, values, met in zip(self.runs, self.values, self.partners, strict=True)
        )
        return left, right

    def _forced_too(self, ref: TensorRef, value: np.ndarray) -> Mapping[TensorRef, np.ndarray]:
        return {**self.forced, ref: value.astype(self.values[1][ref].dtype)}
