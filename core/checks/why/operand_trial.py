"""Which operands of a step its wrong results come from: found by running it on others."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradstep.core.cancellation import check_cancelled
from gradstep.core.checks.why.step_on_other_inputs import Again, Masks, at_place, by_place
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
        self._inputs, self._bad, self._asked = inputs, bad, asked
        self.own = self._left({})
        self._rest = {k: m & ~self.own[k] for k, m in asked.items() if (m & ~self.own[k]).any()}

    def mattering(self) -> Masks:
        """The wrong elements of operands that suffice, alone, to make wrong what is asked for but
        `own`; where none does, all of them."""
        if not self._rest:
            return {}
        found: Masks = {}
        for index, mask in self._bad.items():
            left = self._left({index: mask}) if len(self._bad) > 1 else self._rest
            if any((left[k] & rest).any() for k, rest in self._rest.items()):
                found[index] = self._narrowed(index, left)
        return found or self._bad

    def _narrowed(self, index: int, left: Masks) -> np.ndarray:
        """The elements of an operand that may have led to those in `left`."""
        mask, x = self._bad[index], self._inputs[index]
        if by_place(self._step):
            places = [
                at_place(x, m.shape, m & self._rest[k]) for k, m in left.items() if k in self._rest
            ]
            return np.asarray(mask & np.logical_or.reduce(places))
        return self._by_halves(index, mask)

    def _by_halves(self, index: int, mask: np.ndarray) -> np.ndarray:
        """Of the wrong elements of an operand, halves left out that do nothing by themselves, and
        halves of halves, as long as there is time."""
        until = time.monotonic() + _SECONDS
        groups, kept = [np.argwhere(mask)], np.zeros_like(mask)
        while groups:
            group = groups.pop()
            there = np.zeros_like(mask)
            there[tuple(group.T)] = True
            if len(group) < mask.sum() and not self._suffices({index: there}):
                continue
            if len(group) == 1 or time.monotonic() > until:
                kept |= there
            else:
                middle = len(group) // 2
                groups += [group[middle:], group[:middle]]
        return kept if kept.any() else mask

    def _suffices(self, kept: Masks) -> bool:
        left = self._left(kept)
        return any((left[k] & rest).any() for k, rest in self._rest.items())

    def _left(self, kept: Masks) -> Masks:
        """Of the elements asked for, those that are wrong where only `kept` of the operands is."""
        left = dict(self._asked)
        for number in _RIGHT:
            inputs = list(self._inputs)
            for index, mask in self._bad.items():
                away = mask & ~kept[index] if index in kept else mask
                x = inputs[index]
                inputs[index] = np.where(away, np.asarray(number, x.dtype), x)
            results = self._again.run(self._step, inputs)
            if results is None:
                return {k: np.zeros_like(m) for k, m in left.items()}
            left = {k: m & self._wrong(results[k]) for k, m in left.items()}
            if not any(m.any() for m in left.values()):
                break
        return left
