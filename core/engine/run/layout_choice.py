"""Which layout a plan runs in: fast where that was asked for and can be, else recorded."""

from __future__ import annotations

from collections.abc import Callable

from gradstep.core.engine.backend import Backend
from gradstep.core.engine.calls.op_evaluation import Functions
from gradstep.core.engine.calls.placed_calls import with_elsewhere
from gradstep.core.engine.kernels.kernel_choice import REFERENCE_KERNELS, Kernels, with_kernels
from gradstep.core.engine.memory.host_values import short_values
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.run.fast_run import FastRun
from gradstep.core.engine.run.recording import Recording
from gradstep.core.engine.run.variable_store import VariableStore
from gradstep.core.ops.declare.host_arrays import holds_bfloat16

Rewrite = Callable[[Plan], Plan]


def laid_out(
    plan: Plan,
    backend: Backend,
    functions: Functions,
    store: VariableStore,
    rewrite: Rewrite | None,
    kernels: Kernels = REFERENCE_KERNELS,
) -> Recording:
    """`plan` in memory. rewrite: makes the plan of a fast run; None: recorded. kernels: what may
    compute besides the reference.

    A run that starts without a variable's value is not made fast: it is an initialisation, or
    fails. `store` is made such as a fast run wants it.
    """
    plan = with_elsewhere(plan, backend)
    if rewrite is not None and has_values(plan, store) and not _is_mixed(plan, backend):
        quick = FastRun(with_kernels(rewrite(plan), backend, kernels), backend, functions)
        if quick.can_begin(store):
            quick.settle(store)
            return quick
    return Recording(with_kernels(plan, backend, kernels), backend, functions)


def _is_mixed(plan: Plan, backend: Backend) -> bool:
    """Whether numbers of the plan lie on the host, and others on a device."""
    return not holds_bfloat16(backend.xp) and bool(short_values(plan))


def has_values(plan: Plan, store: VariableStore) -> bool:
    """Whether every variable of the plan has a value, or starts with one of its own."""
    return all(n in store or v.first is not None for n, v in plan.variables.items())
