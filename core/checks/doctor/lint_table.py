"""The lints: what the doctor looks for, in the order in which it says it."""

from __future__ import annotations

from collections.abc import Mapping

from gradstep.core.checks.doctor.accidental_broadcasts import find_accidental_broadcasts
from gradstep.core.checks.doctor.adam_habits import find_moved_by_memory, find_ruling_epsilons
from gradstep.core.checks.doctor.control_order import find_idle_waits
from gradstep.core.checks.doctor.dropped_predictions import find_dropped_predictions
from gradstep.core.checks.doctor.gradient_sizes import find_gradients_apart
from gradstep.core.checks.doctor.idle_bends import find_idle_overrides, find_idle_stops
from gradstep.core.checks.doctor.idle_units import find_dead_units, find_saturated_units
from gradstep.core.checks.doctor.idle_updates import find_forgotten_averages, find_idle_updates
from gradstep.core.checks.doctor.integer_quotients import find_integer_quotients
from gradstep.core.checks.doctor.label_ranges import find_labels_out_of_range
from gradstep.core.checks.doctor.lint import Lint, Looks
from gradstep.core.checks.doctor.lint_subjects import SUBJECTS
from gradstep.core.checks.doctor.lost_digits import find_lost_digits
from gradstep.core.checks.doctor.overshooting_steps import find_overshooting_steps
from gradstep.core.checks.doctor.softmax_mistakes import (
    find_logarithms_by_hand,
    find_softmax_twice,
)
from gradstep.core.checks.doctor.starved_queues import find_starved_queues
from gradstep.core.checks.doctor.summed_losses import find_summed_losses
from gradstep.core.checks.doctor.unlearned_statistics import find_unlearned_statistics
from gradstep.core.checks.doctor.unreached_variables import find_unreached_variables
from gradstep.core.checks.doctor.unscaled_inputs import find_unscaled_inputs

_LOOKS: Mapping[str, Looks] = {
    "forgotten-average": find_forgotten_averages,
    "idle-update": find_idle_updates,
    "unreached-variable": find_unreached_variables,
    "idle-wait": find_idle_waits,
    "idle-stop": find_idle_stops,
    "idle-override": find_idle_overrides,
    "softmax-twice": find_softmax_twice,
    "log-by-hand": find_logarithms_by_hand,
    "broadcast-by-accident": find_accidental_broadcasts,
    "integer-quotient": find_integer_quotients,
    "label-range": find_labels_out_of_range,
    "unlearned-statistics": find_unlearned_statistics,
    "starved-queue": find_starved_queues,
    "dropout-in-judgement": find_dropped_predictions,
    "dead-units": find_dead_units,
    "saturated-units": find_saturated_units,
    "gradients-apart": find_gradients_apart,
    "epsilon-rules": find_ruling_epsilons,
    "moved-by-memory": find_moved_by_memory,
    "overshooting-step": find_overshooting_steps,
    "summed-loss": find_summed_losses,
    "unscaled-input": find_unscaled_inputs,
    "lost-digits": find_lost_digits,
}

LINTS = tuple(Lint(subject, _LOOKS[subject.code]) for subject in SUBJECTS)
BY_CODE = {lint.code: lint for lint in LINTS}
