"""What an alignment of two networks finds: figures, differences in order, gradients."""

from __future__ import annotations

from dataclasses import dataclass

from gradstep.core.checks.alignment.paired_gradients import GradientPair

TOLERANCE = 1e-5  # of a tensor's norm: what is less is rounding


@dataclass(frozen=True)
class SideFigures:
    """operations: that compute floats of what is fed. met: of these, those with a counterpart;
    inside: those without, between such. behind: those after the last. weights, weights_met: of
    what is needed."""

    operations: int
    met: int
    inside: int
    behind: tuple[str, ...]
    weights: int
    unmet_weights: tuple[str, ...]


@dataclass(frozen=True)
class Difference:
    """One stretch: (name, type) of its operations on each side, what they read in common, the two
    tensors that should be the same behind it (None where they do not meet again), how far these
    are apart, and sentences that say the rule, as far as it is recognised."""

    file: tuple[tuple[str, str], ...]
    other: tuple[tuple[str, str], ...]
    after: tuple[tuple[str, str], ...]
    meeting: tuple[str, str] | None
    distance: float
    rules: tuple[str, ...]


@dataclass(frozen=True)
class AlignmentReport:
    """differences: in the order of the run; each is looked for with those before it made good.
    gradients: of weights that both have; None where no loss is asked for that both have. remark:
    what was done otherwise than the documents have it."""

    file: SideFigures
    other: SideFigures
    inputs: tuple[tuple[str, str], ...]
    differences: tuple[Difference, ...]
    gradients: tuple[GradientPair, ...] | None = None
    tolerance: float = TOLERANCE
    remark: str = ""

    @property
    def agrees(self) -> bool:
        """Whether nothing is other beyond rounding."""
        return not self.differences and not any(
            one.distance > one.limit for one in self.gradients or ()
        )
