"""Matrix products: with factors rounded to TF32 and without, and in float16."""

from __future__ import annotations

from typing import Any

from tests.card.rules.row import A, B, F, Row, f16, f32


def _jax_matmul(precision: str) -> F:
    def product(xp: Any, a: Any, b: Any) -> Any:
        import jax

        with jax.default_matmul_precision(precision):
            return a @ b

    return product


def _torch_matmul(allowed: bool) -> F:
    def product(t: Any, a: Any, b: Any) -> Any:
        t.backends.cuda.matmul.allow_tf32 = allowed
        made = a @ b
        t.backends.cuda.matmul.allow_tf32 = False
        return made

    return product


_TF32 = 7  # COMPUTE_TYPE_TF32 of CuPy's _routines_linalg.pxd, which no module of its has by name


def _cupy_tf32(xp: Any, a: Any, b: Any) -> Any:
    core = xp._core
    if not hasattr(core, "set_compute_type"):  # NumPy
        return a @ b
    before = core.get_compute_type(f32)
    core.set_compute_type(f32, _TF32)
    try:
        return a @ b
    finally:
        core.set_compute_type(f32, before)


def rows() -> dict[str, Row]:
    half = A.astype(f16), B.astype(f16)
    return {
        "matmul default": Row((A, B), lambda xp, a, b: a @ b, lambda t, a, b: a @ b),
        "matmul tf32 on": Row(
            (A, B), _cupy_tf32, _torch_matmul(True), jax=_jax_matmul("tensorfloat32")
        ),
        "matmul tf32 off": Row(
            (A, B), lambda xp, a, b: a @ b, _torch_matmul(False), jax=_jax_matmul("highest")
        ),
        "matmul float16": Row(half, lambda xp, a, b: a @ b, lambda t, a, b: a @ b),
    }
