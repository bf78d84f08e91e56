"""Early stopping: training ends once the loss has not become less for so many steps."""

from __future__ import annotations

import math


class Patience:
    """steps: how many without a loss that is less than all before; 0 for any number of them. unit:
    what they are called."""

    def __init__(self, steps: int, unit: str = "step") -> None:
        self._steps, self._unit = steps, unit
        self._best, self._since = math.inf, -1
        self._last = -1

    def ends(self, step: int, loss: float) -> str:
        """After a step: why it is time to end, in words; "" while it is not. Asking again of the
        same step changes nothing; a NaN is not less."""
        if not self._steps:
            return ""
        if self._since < 0 or (step != self._last and loss < self._best):
            self._best, self._since = (math.inf if math.isnan(loss) else loss), step
        self._last = step
        if step - self._since < self._steps:
            return ""
        best = f"{self._best:.6g}" if math.isfinite(self._best) else "none"
        many = f"{self._steps:,} {self._unit}{'' if self._steps == 1 else 's'}"
        return f"no less loss in {many} (least: {best}, {self._unit} {self._since + 1:,})"
