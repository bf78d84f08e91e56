"""Which operands of a step its wrong results come from, found by nothing but running it: what
gradstep.core.checks.why.operand_trial has to agree with, which knows more and runs less."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.core.checks.why.operand_trial import Wrong
from gradstep.core.checks.why.step_on_other_inputs import Again, Masks, at_place, by_place
from gradstep.core.engine.plan.steps import Step

_RIGHT = (0.5, 1.5)


class PlainTrial:
    """As gradstep.core.checks.why.operand_trial.Trial, however long it takes."""

    def __init__(
        self,
        again: Again,
        step: Step,
        inputs: Sequence[Any],
        bad: Masks,
        asked: Masks,
        wrong: Wrong,
    ) -> None:
        self._again, self._step, self._wrong = again, step, wrong
        self._inputs, self._bad, self._asked = inputs, bad, asked
        self.own = self._left({})
        self._rest = {k: m & ~self.own[k] for k, m in asked.items() if (m & ~self.own[k]).any()}

    def mattering(self) -> Masks:
        if not self._rest:
            return {}
        found: Masks = {}
        for index, mask in self._bad.items():
            left = self._left({index: mask}) if len(self._bad) > 1 else self._rest
            if any((left[k] & rest).any() for k, rest in self._rest.items()):
                found[index] = self._narrowed(index, left)
        return found or self._bad

    def _narrowed(self, index: int, left: Masks) -> np.ndarray:
        mask, x = self._bad[index], self._inputs[index]
        if by_place(self._step):
            places = [at_place(x, m.shape, left[k] & m) for k, m in self._rest.items()]
            return np.asarray(mask & np.logical_or.reduce(places))
        kept, groups = np.zeros_like(mask), [np.argwhere(mask)]
        while groups:
            group = groups.pop()
            there = np.zeros_like(mask)
            there[tuple(group.T)] = True
            if len(group) < mask.sum():
                left = self._left({index: there})
                if not any((left[k] & rest).any() for k, rest in self._rest.items()):
                    continue
            if len(group) == 1:
                kept |= there
            else:
                middle = len(group) // 2
                groups += [group[middle:], group[:middle]]
        return kept if kept.any() else mask

    def _left(self, kept: Masks) -> Masks:
        left = dict(self._asked)
        for number in _RIGHT:
            inputs = list(self._inputs)
            for index, mask in self._bad.items():
                away = mask & ~kept[index] if index in kept else mask
                x = inputs[index]
                inputs[index] = np.where(away, np.asarray(number, x.dtype), x)
            results = self._again.run(self._step, inputs)
            if results is None or any(results[k].shape != m.shape for k, m in left.items()):
                return {k: np.zeros_like(m) for k, m in left.items()}
            left = {k: m & self._wrong(results[k]) for k, m in left.items()}
        return left
