"""Corner cases where libraries do not agree, as each library's own function answers them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.card.libraries import open_library, tried

F = Callable[..., Any]
nan, inf = float("nan"), float("inf")
f16, f32, f64, i32, i64 = np.float16, np.float32, np.float64, np.int32, np.int64


@dataclass(frozen=True)
class Row:
    """plain: f(xp, *arrays) for NumPy, CuPy and JAX; jax: for JAX, where it is called otherwise;
    torch: f(torch, *tensors). Where there is None, that library has no such function."""

    inputs: tuple[np.ndarray, ...]
    plain: F | None
    torch: F | None
    jax: F | None = None

    def of(self, library: str) -> F | None:
        if library == "torch":
            return self.torch
        return self.jax if library == "jax" and self.jax is not None else self.plain


def try_one(device: str, task: str) -> dict[str, Any]:
    """task: "rule|LIBRARY|ROW"."""
    _, name, row = task.split("|", 2)
    function = ROWS[row].of(name)
    if function is None:
        return {"absent": "it has no such function"}
    try:
        library = open_library(name, device)
    except (ImportError, RuntimeError) as error:
        return {"absent": str(error)[:160]}

    def run() -> Any:
        return function(library.xp, *(library.put(x) for x in ROWS[row].inputs))

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tried(library, run)


def _a(*values: Any, d: Any = f32) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.array(values, d)


_P, _P2 = _a(10, 20, 30), _a(10, 20, 30).reshape(1, 3)
_TINY = _a(1e-40, -1e-40, 1.1754944e-38, 2e-38)
_RANDOM = np.random.default_rng(11)
_LARGE = _RANDOM.standard_normal(1 << 16).astype(f32)
_A, _B = (_RANDOM.standard_normal((64, 64)).astype(f32) for _ in range(2))
_LARGE_NAN = _LARGE.copy()
_LARGE_NAN[[123, 40000, 65000]] = nan


def _set(xp: Any, p: Any, i: Any) -> Any:
    q = p.copy()
    q[i] = 99
    return q


def _add_at(xp: Any, p: Any, i: Any) -> Any:
    q = p.copy()
    xp.add.at(q, i, xp.asarray(1, p.dtype))
    return q


def _spread(add: Callable[[], Any]) -> tuple[float, float, int]:
    found = [float(add()) for _ in range(100)]
    return min(found), max(found), len(set(found))


def _jax_one_hot(xp: Any, i: Any) -> Any:
    return _jax_nn().one_hot(i, 3)


def _jax_segment_sum(xp: Any, p: Any, i: Any) -> Any:
    import jax

    return jax.ops.segment_sum(p, i, 3)


def _jax_cross_entropy(xp: Any, p: Any, i: Any) -> Any:
    return -_jax_nn().log_softmax(p)[xp.arange(1), i]


def _jax_nn() -> Any:
    import jax

    return jax.nn


def _torch_one_hot(t: Any, i: Any) -> Any:
    return t.nn.functional.one_hot(i.long(), 3)


def _jax_top_k(xp: Any, x: Any) -> Any:
    import jax

    return tuple(jax.lax.top_k(x, 3))


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


def _unary(*values: Any, d: Any = f32, **names: str) -> Callable[[str], Row]:
    def row(name: str) -> Row:
        return Row(
            (_a(*values, d=d),),
            lambda xp, x: getattr(xp, name)(x),
            lambda t, x: getattr(t, names.get("torch", name))(x),
        )

    return row


def _indexing() -> dict[str, Row]:
    rows = {}
    for at in (3, -1, -4):
        i, i2 = _a(0, at, d=i32), _a(0, at, d=i64).reshape(1, 2)
        rows |= {
            f"index {at}": Row((_P, i), lambda xp, p, i: p[i], lambda t, p, i: p[i.long()]),
            f"take {at}": Row(
                (_P, i), lambda xp, p, i: xp.take(p, i), lambda t, p, i: t.take(p, i.long())
            ),
            f"take_along_axis {at}": Row(
                (_P2, i2),
                lambda xp, p, i: xp.take_along_axis(p, i, 1),
                lambda t, p, i: t.take_along_dim(p, i, 1),
            ),
            f"gather {at}": Row((_P2, i2), None, lambda t, p, i: t.gather(p, 1, i)),
            f"index_select {at}": Row((_P, i), None, lambda t, p, i: t.index_select(p, 0, i)),
            f"embedding {at}": Row(
                (_P.reshape(3, 1), i),
                None,
                lambda t, p, i: t.nn.functional.embedding(i.long(), p),
            ),
            f"set {at}": Row(
                (_P, i), _set, lambda t, p, i: p.index_put((i.long(),), t.full_like(p[:1], 99)),
                jax=lambda xp, p, i: p.at[i].set(99),
            ),
            f"add at {at}": Row(
                (_P, i), _add_at,
                lambda t, p, i: p.clone().index_put((i.long(),), t.ones_like(p[:1]), True),
                jax=lambda xp, p, i: p.at[i].add(1),
            ),
            f"index_add {at}": Row((_P, i), None, lambda t, p, i: p.index_add(0, i, p[:2])),
            f"scatter_add {at}": Row(
                (_P2, i2), None, lambda t, p, i: p.scatter_add(1, i, p[:, :2])
            ),
            f"one_hot {at}": Row(
                (i,), lambda xp, i: xp.eye(3, dtype=f32)[i], _torch_one_hot, jax=_jax_one_hot
            ),
            f"segment_sum {at}": Row((_P, _a(0, at, 1, d=i32)), None, None, jax=_jax_segment_sum),
            f"cross_entropy {at}": Row(
                (_P2, _a(at, d=i32)),
                None,
                lambda t, p, i: t.nn.functional.cross_entropy(p, i.long(), reduction="none"),
                jax=_jax_cross_entropy,
            ),
        }  # fmt: skip
    return rows


def _integers() -> dict[str, Row]:
    rows = {}
    for d in (np.int8, np.uint8, i32, i64):
        name, low = np.dtype(d).name, np.iinfo(d).min
        x, zero = _a(1, 0, 7, low, d=d), _a(0, 0, 0, 0, d=d)
        rows[f"{name} // 0"] = Row((x, zero), lambda xp, x, y: x // y, lambda t, x, y: x // y)
        rows[f"{name} % 0"] = Row((x, zero), lambda xp, x, y: x % y, lambda t, x, y: x % y)
        bits = 8 * np.dtype(d).itemsize
        by = _a(bits - 1, bits, bits + 1, d=d)
        one = _a(1, 1, 1, d=d)
        rows[f"{name} <<"] = Row((one, by), lambda xp, x, y: x << y, lambda t, x, y: x << y)
        rows[f"{name} >>"] = Row((~one, by), lambda xp, x, y: x >> y, lambda t, x, y: x >> y)
        if low:
            least = _a(low, -7, 7, -7, d=d), _a(-1, 2, -2, -2, d=d)
            # The smallest number by -1 ends a process on some processors: PyTorch says so itself.
            rows[f"{name} smallest // -1"] = Row(
                least, lambda xp, x, y: x // y, lambda t, x, y: x // y
            )
            rows[f"{name} -7 % 2"] = Row(least, lambda xp, x, y: x % y, lambda t, x, y: x % y)
            rows[f"{name} 1 << -1"] = Row(
                (one, -one), lambda xp, x, y: x << y, lambda t, x, y: x << y
            )
            rows[f"abs {name}"] = Row((least[0],), lambda xp, x: abs(x), lambda t, x: abs(x))
            rows[f"{name} ** -1"] = Row(
                (_a(0, 1, 2, -1, d=d), -_a(1, 1, 1, 1, d=d)),
                lambda xp, x, y: x**y,
                lambda t, x, y: x**y,
            )
    top = _a(2**31 - 1, d=i32), _a(1, d=i32)
    rows["int32 overflow"] = Row(top, lambda xp, x, y: x + y, lambda t, x, y: x + y)
    return rows


def _floats() -> dict[str, Row]:
    x, y = _a(6, -1, 1, -1, 0, 5, inf), _a(0.1, inf, 0, 0, 0, -3, 2)
    a, b = _a(1, nan, 0.0, -0.0), _a(nan, 1, -0.0, 0.0)
    base, to = _a(0, -8, 1, 0, nan, -1, inf), _a(0, 1 / 3, nan, -1, 0, inf, 0)
    return {
        "float //": Row((x, y), lambda xp, x, y: x // y, lambda t, x, y: x // y),
        "float %": Row((x, y), lambda xp, x, y: x % y, lambda t, x, y: x % y),
        "fmod": Row((x, y), lambda xp, x, y: xp.fmod(x, y), lambda t, x, y: t.fmod(x, y)),
        "pow": Row((base, to), lambda xp, x, y: x**y, lambda t, x, y: x**y),
        "maximum nan": Row(
            (a, b), lambda xp, x, y: xp.maximum(x, y), lambda t, x, y: t.maximum(x, y)
        ),
        "minimum nan": Row(
            (a, b), lambda xp, x, y: xp.minimum(x, y), lambda t, x, y: t.minimum(x, y)
        ),
        "clip nan": Row((a,), lambda xp, x: xp.clip(x, 0, 1), lambda t, x: t.clip(x, 0, 1)),
        "relu nan": Row(
            (a,), lambda xp, x: xp.maximum(x, 0), lambda t, x: t.relu(x),
            jax=lambda xp, x: _jax_nn().relu(x),
        ),
        "sign": _unary(nan, -0.0, -3, inf)("sign"),
        "round": Row(
            (_a(0.5, 1.5, 2.5, -0.5),), lambda xp, x: xp.rint(x), lambda t, x: t.round(x)
        ),
        "sqrt": _unary(-1, -0.0, inf)("sqrt"),
        "log": _unary(0, -1, 1e-40)("log"),
        "softmax": Row(
            (np.array([[-inf, -inf], [inf, 0], [nan, 0], [1e4, -1e4]], f32),),
            lambda xp, x: (e := xp.exp(x - x.max(1, keepdims=True))) / e.sum(1, keepdims=True),
            lambda t, x: t.softmax(x, 1),
            jax=lambda xp, x: _jax_nn().softmax(x, 1),
        ),
    }  # fmt: skip


def _reductions() -> dict[str, Row]:
    rows, empty = {}, np.zeros((0,), f32)
    nans = {
        "one": _a(1, nan, 3),
        "first": _a(nan, 1, nan),
        "all": _a(nan, nan),
        "large": _LARGE_NAN,
    }
    for name in ("max", "min", "argmax", "argmin"):
        for kind, x in nans.items():
            rows[f"{name} nan {kind}"] = Row(
                (x,),
                lambda xp, x, name=name: getattr(xp, name)(x),
                lambda t, x, name=name: getattr(t, name)(x),
            )
    for name in ("sum", "prod", "max", "min", "mean", "argmax"):
        rows[f"{name} empty"] = Row(
            (empty,),
            lambda xp, x, name=name: getattr(xp, name)(x),
            lambda t, x, name=name: getattr(t, name)(x),
        )
    ties, mixed = _a(2, 3, 3, 2), _a(2, nan, 3, -inf, inf, nan)
    for kind, x in {"ties": ties, "nan": mixed}.items():
        rows[f"argmax {kind}"] = Row((x,), lambda xp, x: xp.argmax(x), lambda t, x: t.argmax(x))
        rows[f"sort {kind}"] = Row((x,), lambda xp, x: xp.sort(x), lambda t, x: t.sort(x)[0])
        rows[f"argsort {kind}"] = Row((x,), lambda xp, x: xp.argsort(x), lambda t, x: t.argsort(x))
        rows[f"top_k {kind}"] = Row((x,), None, lambda t, x: tuple(t.topk(x, 3)), jax=_jax_top_k)
    half = np.ones(70000, f16)
    small = _RANDOM.random(4096).astype(f16)
    rows |= {
        "sum ones float16": Row((half,), lambda xp, x: x.sum(), lambda t, x: x.sum()),
        "sum ones float16 axis 0": Row(
            (np.ones((70000, 2), f16),), lambda xp, x: x.sum(0), lambda t, x: x.sum(0)
        ),
        "sum random float16": Row((small,), lambda xp, x: x.sum(), lambda t, x: x.sum()),
        "mean ones float16": Row((half,), lambda xp, x: x.mean(), lambda t, x: x.mean()),
        "cumsum float16": Row(
            (np.ones(4096, f16),), lambda xp, x: xp.cumsum(x)[-1], lambda t, x: t.cumsum(x, 0)[-1]
        ),
        "sum 0.1 float32": Row(
            (np.full(10**6, 0.1, f32),), lambda xp, x: x.sum(), lambda t, x: x.sum()
        ),
        "cumsum 0.1 float32": Row(
            (np.full(10**5, 0.1, f32),), lambda xp, x: xp.cumsum(x)[-1],
            lambda t, x: t.cumsum(x, 0)[-1],
        ),
        "unique": Row(
            (_a(3, 1, 3, 2, d=i32),), lambda xp, x: xp.unique(x), lambda t, x: t.unique(x)
        ),
        "searchsorted nan": Row(
            (_a(0, 5, 10), _a(nan, 1)), lambda xp, x, y: xp.searchsorted(x, y),
            lambda t, x, y: t.searchsorted(x, y),
        ),
        "bincount negative": Row(
            (_a(-1, 1, d=i32),), lambda xp, x: xp.bincount(x), lambda t, x: t.bincount(x)
        ),
        "add at, 100 runs": Row(
            (_LARGE,),
            lambda xp, x: _spread(lambda: _all_into_one(xp, x)),
            lambda t, x: _spread(
                lambda: t.zeros_like(x[:1]).index_add(0, t.zeros_like(x, dtype=t.long), x)[0]
            ),
            jax=lambda xp, x: _spread(
                lambda: xp.zeros(1, x.dtype).at[xp.zeros(x.shape, i32)].add(x)[0]
            ),
        ),
    }  # fmt: skip
    return rows


def _all_into_one(xp: Any, x: Any) -> Any:
    total = xp.zeros(1, x.dtype)
    xp.add.at(total, xp.zeros(x.shape, i32), x)
    return total[0]


def _subnormals() -> dict[str, Row]:
    """One of each class of operations, on float32 numbers below the normal range."""
    binary: dict[str, F] = {
        "+ 0": lambda x: x + 0,
        "* 1": lambda x: x * 1,
        "* 2": lambda x: x * 2,
        "/ 1": lambda x: x / 1,
        "1 /": lambda x: 1 / x,
        "> 0": lambda x: x > 0,
        "== 0": lambda x: x == 0,
        "neg": lambda x: -x,
        "abs": abs,
        "sum": lambda x: x.sum(),
        "prod by rows": lambda x: x.reshape(2, 2).prod(1),
        "min": lambda x: x.min(),
        "flip": lambda x: x.reshape(2, 2).T,
    }
    rows = {
        f"subnormal {name}": Row((_TINY,), lambda _, x, f=f: f(x), lambda _, x, f=f: f(x))
        for name, f in binary.items()
    }
    for name in ("sqrt", "exp", "log", "tanh", "sin", "expm1", "log1p", "square", "sign"):
        rows[f"subnormal {name}"] = _unary(*_TINY.tolist())(name)
    rows |= {
        "subnormal maximum": Row(
            (_TINY, _TINY * 0), lambda xp, x, y: xp.maximum(x, y), lambda t, x, y: t.maximum(x, y)
        ),
        "subnormal where": Row(
            (_TINY,), lambda xp, x: xp.where(x == x, x, 1), lambda t, x: t.where(x == x, x, 1)
        ),
        "subnormal product of normals": Row(
            (_a(1e-30), _a(1e-10)), lambda xp, x, y: x * y, lambda t, x, y: x * y
        ),
        "subnormal exp -100": _unary(-90, -100, -103)("exp"),
        "subnormal dot": Row(
            (_TINY, _a(1, 1, 1, 1)), lambda xp, x, y: x @ y, lambda t, x, y: x @ y
        ),
        "subnormal matmul": Row(
            (np.tile(_TINY, (4, 1)), np.eye(4, dtype=f32)),
            lambda xp, x, y: x @ y, lambda t, x, y: x @ y,
        ),
        "subnormal cumsum": Row(
            (_TINY,), lambda xp, x: xp.cumsum(x), lambda t, x: t.cumsum(x, 0)
        ),
        "subnormal sort": Row((_TINY,), lambda xp, x: xp.sort(x), lambda t, x: t.sort(x)[0]),
        "subnormal to float64": Row(
            (_TINY,), lambda xp, x: x.astype(f64), lambda t, x: x.double()
        ),
        "subnormal from float64": Row(
            (_TINY.astype(f64),), lambda xp, x: x.astype(f32), lambda t, x: x.float()
        ),
        "subnormal from float64 to float16": Row(
            (_a(1e-7, 6e-8, 2e-5, d=f64),), lambda xp, x: x.astype(f16), lambda t, x: x.half()
        ),
        "subnormal float64 * 1": Row(
            (_a(1e-310, d=f64),), lambda xp, x: x * 1, lambda t, x: x * 1
        ),
        "subnormal float64 > 0": Row(
            (_a(1e-310, d=f64),), lambda xp, x: x > 0, lambda t, x: x > 0
        ),
        "subnormal float16 * 1": Row(
            (_a(1e-7, 2e-5, d=f16),), lambda xp, x: x * 1, lambda t, x: x * 1
        ),
    }  # fmt: skip
    return rows


def _products() -> dict[str, Row]:
    half = _A.astype(f16), _B.astype(f16)
    return {
        "matmul default": Row((_A, _B), lambda xp, a, b: a @ b, lambda t, a, b: a @ b),
        "matmul tf32 on": Row(
            (_A, _B), _cupy_tf32, _torch_matmul(True), jax=_jax_matmul("tensorfloat32")
        ),
        "matmul tf32 off": Row(
            (_A, _B), lambda xp, a, b: a @ b, _torch_matmul(False), jax=_jax_matmul("highest")
        ),
        "matmul float16": Row(half, lambda xp, a, b: a @ b, lambda t, a, b: a @ b),
    }


ROWS: dict[str, Row] = {
    **_indexing(),
    **_integers(),
    **_floats(),
    **_reductions(),
    **_subnormals(),
    **_products(),
}
