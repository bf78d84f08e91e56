"""Who takes part: the name that rows use, the environment it runs in, the function to call; and on
how many threads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Threads = Literal["one", "default"]  # as many as the libraries take by themselves


@dataclass(frozen=True)
class Implementation:
    """function: what the workload's module calls it; options: its arguments; variables: of the
    environment that it starts with."""

    title: str
    environment: str
    function: str
    options: Mapping[str, Any] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)


_PYTHON = {"GRADSTEP_NATIVE": "0"}  # calls of NumPy's functions, whether or not there is more

IMPLEMENTATIONS: Mapping[str, Implementation] = {
    "fast": Implementation("plan", "gradstep", "ours", {"mode": "fast"}, _PYTHON),
    "recorded": Implementation("recorded plan", "gradstep", "ours", {"mode": "record"}, _PYTHON),
    "native": Implementation("plan + native tables", "gradstep", "ours", {"mode": "native"}),
    "kernels": Implementation(
        "plan + kernels", "kernels", "ours", {"mode": "fast", "kernels": "auto"}, _PYTHON
    ),
    "session": Implementation("Session.run, fed", "gradstep", "session"),
    "raw": Implementation("hand-written NumPy", "gradstep", "raw"),
    "torch": Implementation("PyTorch eager", "torch", "torch"),
    "torch_coalesced": Implementation("PyTorch sparse coalesced", "torch", "torch_coalesced"),
    "tf1": Implementation("TF1 session", "tensorflow", "tf1"),
    "jax": Implementation("JAX jit", "jax", "jax"),
    "autograd": Implementation("HIPS autograd", "autograd", "autograd"),
}

# Before any library is loaded.
_ALONE = {
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "CUDA_VISIBLE_DEVICES": "",
    "JAX_PLATFORMS": "cpu",
    "PYTHONHASHSEED": "0",
}
_ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "GRADSTEP_THREADS": "1",
}


def variables(threads: Threads) -> Mapping[str, str]:
    """Of the environment of a process that is timed."""
    return {**_ALONE, **(_ONE_THREAD if threads == "one" else {})}
