"""Which kernels a plan runs: the reference's, or those of libraries that are there."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradstep.core.engine.backend import Backend
from gradstep.core.engine.kernels.kernel_alternative import Alternative, Use
from gradstep.core.engine.kernels.kernel_libraries import LIBRARIES, Library
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.steps import Step
from gradstep.core.errors import GradstepError
from gradstep.core.graph.suggestions import did_you_mean, near
from gradstep.core.ops.declare.system_rules import TF_CPU

AUTO, REFERENCE = "auto", "reference"


@dataclass(frozen=True)
class Kernels:
    """What may compute besides the reference, NumPy. libraries: those asked for; optional: those
    that are missing are done without."""

    libraries: tuple[Library, ...] = ()
    optional: bool = False

    @classmethod
    def of(cls, wish: str | Collection[str]) -> Kernels:
        """From "auto" (every library that is there), "reference" (none), or names of libraries.
        Raises GradstepError for a name of none, and for one that is not there."""
        if wish == AUTO:
            return cls(LIBRARIES, optional=True)
        names = [wish] if isinstance(wish, str) else wish
        libraries = tuple(_named(name) for name in names if name != REFERENCE)
        for library in libraries:
            library.load()
        return cls(libraries)

    def may_use(self, library: Library) -> bool:
        """Whether it was asked for and is there. Imports it."""
        if library not in self.libraries:
            return False
        try:
            library.load()
        except GradstepError:
            if not self.optional:
                raise
            return False
        return True


REFERENCE_KERNELS = Kernels()


def with_kernels(
    plan: Plan,
    backend: Backend,
    kernels: Kernels,
    alternatives: Sequence[Alternative] | None = None,
) -> Plan:
    """`plan` with an alternative (by default of all there are) for every step that has one. They
    are made for the host and TensorFlow's rules there: on other devices, imitated ones included,
    `plan` as it is."""
    if not kernels.libraries or backend.xp is not np or backend.rules != TF_CPU:
        return plan
    known = _all() if alternatives is None else alternatives
    chosen = {step.op.name: _chosen(plan, step, kernels, known) for step in plan.steps}
    return replace(plan, kernels={name: one for name, one in chosen.items() if one is not None})


def _all() -> Sequence[Alternative]:
    """The registry. It knows operations, which take time to import."""
    from gradstep.core.engine.kernels.kernel_registry import ALTERNATIVES

    return ALTERNATIVES


def _chosen(
    plan: Plan, step: Step, kernels: Kernels, alternatives: Sequence[Alternative]
) -> Alternative | None:
    found = [one for one in alternatives if one.type == step.op.type]
    here = step.op.name not in plan.failures and step.op.name not in plan.elsewhere
    if not found or not step.computes or not here:
        return None
    reads, writes = (tuple(plan.values[v].type for v in some) for some in (step.reads, step.writes))
    use = Use(step.op, reads, writes)
    return next((one for one in found if one.applies(use) and kernels.may_use(one.library)), None)


def _named(name: str) -> Library:
    for library in LIBRARIES:
        if library.name.lower() == name.lower():
            return library
    known = [library.name for library in LIBRARIES]
    raise GradstepError(
        f"there are no kernels called '{name}'",
        kind="KeyError",
        hint=did_you_mean(near(name, known)) or f"write {AUTO}, {REFERENCE} or {', '.join(known)}",
    )
