"""Which operands of a step its wrong results come from: found by running it on others."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gradstep.core.cancellation import check_cancelled
from gradstep.core.checks.why.element_sources import find_reaching, is_copy, makes_no_nan
from gradstep.core.checks.why.step_on_other_inputs import Again, Masks, Runner, at_place, by_place
from gradstep.core.engine.plan.steps import Step

Wrong = Callable[[np.ndarray], np.ndarray]  # which elements of an array of numbers are

_RIGHT = (0.5, 1.5)  # numbers that all functions are defined at, one or the other
_SECONDS = 0.1  # for finding out which elements of one operand matter


class Trial:
    """own: the elements asked for that are wrong even where nothing wrong comes in.

    inputs: what the step read; bad: which elements of which of them are wrong; asked: which
    elements of its results are looked at."""

    def __init__(
        self,
        again: Again,
        step: Step,
        inputs: Sequence[Any],
        bad: Masks,
        asked: Masks,
        wrong: Wrong,
    ) -> None:
        check_cancelled()  # there may be tens of thousands of steps on the way back
        self._again, self._step, self._wrong = again, step, wrong
        self._inputs, self._bad = inputs, bad
        self._right: list[list[Any]] = []  # the inputs, with each of the right numbers
        self._runs = True  # whether it runs on these
        sound = wrong is np.isnan and makes_no_nan(step, inputs, asked)
        self.own = _nothing(asked) if sound or is_copy(step) else self._left({}, asked)
        self._rest = _some({k: m & ~self.own[k] for k, m in asked.items()})

    def mattering(self) -> Masks:
        """The wrong elements of operands that suffice, alone, to make wrong what is asked for but
        `own`; where none does, all of them."""
        if not self._rest:
            return {}
        found = _some({k: self._matters(k, mask) for k, mask in self._bad.items()})
        return found or self._bad

    def _matters(self, index: int, mask: np.ndarray) -> np.ndarray:
        """The elements of an operand that do something by themselves."""
        about = self._again, self._step, self._inputs, index, self._rest
        places = find_reaching(*about, self._wrong is np.isnan) if self._runs else None
        if places is not None:
            return np.asarray(mask & places)
        left = self._rest
        if len(self._bad) > 1:
            left = _some(self._left({index: mask}, left))
        if by_place(self._step):
            x = self._inputs[index]
            found = [at_place(x, m.shape, m) for m in left.values()]
            return mask & np.logical_or.reduce(found) if found else np.zeros_like(mask)
        return self._by_halves(index, mask) if left else np.zeros_like(mask)

    def _by_halves(self, index: int, mask: np.ndarray) -> np.ndarray:
        """Of the wrong elements of an operand, halves left out that do nothing by themselves, and
        halves of halves, as long as there is time."""
        until = time.monotonic() + _SECONDS
        whole = np.flatnonzero(mask)
        groups, kept = [whole], np.zeros(mask.size, bool)
        while groups:
            group = groups.pop()
            if len(group) < len(whole) and not self._suffices(index, group):
                continue
            if len(group) == 1 or time.monotonic() > until:
                kept[group] = True
            else:
                middle = len(group) // 2
                groups += [group[middle:], group[:middle]]
        return kept.reshape(mask.shape) if kept.any() else mask

    def _suffices(self, index: int, places: np.ndarray) -> bool:
        """Whether these elements of one operand, in order of memory, are enough."""
        there = np.zeros(self._bad[index].size, bool)
        there[places] = True
        left = self._left({index: there.reshape(self._bad[index].shape)}, self._rest)
        return any(map(np.count_nonzero, left.values()))

    def _left(self, kept: Masks, asked: Masks) -> Masks:
        """Those in `asked` that are wrong where only `kept` of the operands is; none where that
        cannot be told: it fails, or its numbers decide how many elements it makes."""
        left = asked
        for number in range(len(_RIGHT)):
            inputs = self._inputs_with(number)
            for index, mask in kept.items():
                inputs[index] = np.where(mask, self._inputs[index], inputs[index])
            results = self._runner(inputs)
            if results is None or any(results[k].shape != m.shape for k, m in left.items()):
                self._runs = False
                return _nothing(left)
            left = {k: m & self._wrong(results[k]) for k, m in left.items()}
            if not any(map(np.count_nonzero, left.values())):
                break
        return left

    @cached_property
    def _runner(self) -> Runner:
        return self._again.runner(self._step)

    def _inputs_with(self, number: int) -> list[Any]:
        """What the step read, but that right number wherever it was a wrong one."""
        while len(self._right) <= number:
            inputs = list(self._inputs)
            for index, mask in self._bad.items():
                x = inputs[index]
                right = np.asarray(_RIGHT[len(self._right)], x.dtype)
                inputs[index] = np.where(mask, right, x)
            self._right.append(inputs)
        return [*self._right[number]]


def _nothing(masks: Masks) -> Masks:
    return {k: np.zeros(mask.shape, bool) for k, mask in masks.items()}


def _some(masks: Masks) -> Masks:
    """Those of them in which anything is."""
    return {k: mask for k, mask in masks.items() if np.count_nonzero(mask)}
