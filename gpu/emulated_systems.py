"""Emulated systems: tables of documented rules that run on NumPy and imitate another device.

Every rule carries its source. A profile is never bit-exact for reductions, matrix products or
transcendental functions, and has no times; what it computes is always labelled emulated.
"""

from __future__ import annotations

from gradstep.core.ops.declare.system_rules import (
    DivideByZero,
    Flush,
    NanExtreme,
    NoRoom,
    OutOfRange,
    Rules,
    Shift,
)

_TF_GPU = (
    "TensorFlow 2.21 headers gather_functor_gpu.cu.h (out[i] = ValueOrVec(0)) and "
    "scatter_functor_gpu.cu.h; tf.gather documentation"
)
_H200 = "an H200 (driver 580.159, CUDA 13.0, 2026-11-26)"
_TF_FLUSHES = "TensorFlow 2.21 on the CPU, observed: 1e-40 becomes 0; assumed of its GPU"
_XLA_FLUSHES = "XLA on the CPU, recorded: 1e-40 becomes 0, but for its sign"
_TF_TF32 = "tf.config.experimental.enable_tensor_float_32_execution: on by default"
_JAX_TF32 = f"jax.lax.Precision: DEFAULT is TF32 on GPUs that have it; measured on {_H200}"
_CUPY_FLUSHES = (
    f"CuPy 14.2 cuda/compiler.py compiles with -ftz=true; measured on {_H200}: elementwise kernels "
    "flush, sums, products and sorts do not"
)
_CUDA_CASTS = (
    "PTX ISA, cvt.rzi: integers saturate; NaN gives 0, of or to 64 bits 2^(w-1); measured on "
    f"{_H200} under CuPy 14.2"
)
_XLA_CASTS = (
    "XLA on the CPU under JAX 0.10, observed: integers saturate, NaN gives 0; measured on "
    f"{_H200} under JAX 0.11"
)
_JAX_ARGMAX = "jax.numpy.argmax is NumPy's: the first NaN"
_TORCH_ARGMAX = "PyTorch on the CPU: NaN counts as the largest, and as the smallest"
_CUPY_ARGMAX = "CuPy cupy_cub.cu: NaN wins, as in NumPy"

_JAX_RECORDED = "JAX 0.10.2 on the CPU, recorded (tests/data/devices/jax.npz)"
_TORCH_RECORDED = "PyTorch 2.13.0 on the CPU, recorded (tests/data/devices/torch.npz)"
_XLA_RECORDED = "TensorFlow 2.21.0, XLA on the CPU, recorded (tests/data/devices/tf-xla.npz)"
_ORT_RECORDED = "ONNX Runtime 1.32.0 on the CPU, recorded (tests/data/devices/onnxruntime.npz)"
_CUPY_RECORDED = f"CuPy 14.2, measured on {_H200}"
_JAX_CORNERS = (
    "divide_by_zero shift_beyond floor_by_remainder labels empty_extreme_fails segment_negative"
).split()
_TORCH_CORNERS = (
    "no_room sign_of_nan_is_zero shift_beyond floor_by_remainder segment_negative one_hot "
    "empty_extreme_fails"
).split()
_XLA_CORNERS = "nan_in_extremes divide_by_zero shift_beyond labels".split()
_ORT_CORNERS = "no_room divide_by_zero shift_beyond one_hot labels".split()
_CUPY_CORNERS = "divide_by_zero shift_beyond mod_by_floor one_hot empty_extreme_fails".split()

PROFILES: dict[str, Rules] = {
    rules.name: rules
    for rules in (
        Rules(
            name="tf-gpu",
            source=_TF_GPU,
            gather=OutOfRange.ZERO,
            scatter=OutOfRange.ZERO,
            flush_subnormals=Flush.ARITHMETIC,
            tf32=True,
            no_room=NoRoom.CUDA,
            sources=(
                ("flush_subnormals", _TF_FLUSHES),
                ("tf32", _TF_TF32),
                ("no_room", _CUDA_CASTS),
            ),
        ),
        Rules(
            name="tf-xla",
            source="TensorFlow 2.21 XLA on the CPU, recorded (xla_out_of_range); StableHLO gather",
            gather=OutOfRange.CLAMP,
            scatter=OutOfRange.ZERO,
            flush_subnormals=Flush.ARITHMETIC,
            no_room=NoRoom.XLA,
            nan_in_extremes=NanExtreme.XLA,
            divide_by_zero=DivideByZero.XLA,
            shift_beyond=Shift.OUT,
            labels=OutOfRange.NAN,
            sources=(
                ("flush_subnormals", _XLA_FLUSHES),
                ("no_room", _XLA_CASTS),
                *((name, _XLA_RECORDED) for name in _XLA_CORNERS),
            ),
        ),
        Rules(
            name="cupy",
            source="CuPy 14.2 _core/_routines_indexing.pyx: take and integer indexing wrap (i % n)",
            gather=OutOfRange.WRAP,
            scatter=OutOfRange.WRAP,
            negative_ok=True,
            flush_subnormals=Flush.ELEMENTWISE,
            no_room=NoRoom.CUDA,
            nan_is_found=True,
            divide_by_zero=DivideByZero.ZERO,
            shift_beyond=Shift.OUT,
            mod_by_floor=True,
            segment_negative=OutOfRange.WRAP,
            one_hot=OutOfRange.WRAP,
            empty_extreme_fails=True,
            sources=(
                *((name, _CUPY_RECORDED) for name in _CUPY_CORNERS),
                ("flush_subnormals", _CUPY_FLUSHES),
                ("no_room", _CUDA_CASTS),
                ("nan_is_found", _CUPY_ARGMAX),
            ),
        ),
        Rules(
            name="jax",
            source="JAX 0.10 indexing: -1 is the last row, otherwise gathers clamp, scatters drop",
            gather=OutOfRange.CLAMP,
            scatter=OutOfRange.ZERO,
            negative_ok=True,
            tf32=True,
            no_room=NoRoom.XLA,
            nan_is_found=True,
            divide_by_zero=DivideByZero.JAX,
            shift_beyond=Shift.OUT,
            floor_by_remainder=True,
            labels=OutOfRange.CLAMP,
            empty_extreme_fails=True,
            sources=(
                *((name, _JAX_RECORDED) for name in _JAX_CORNERS),
                ("tf32", _JAX_TF32),
                ("no_room", _XLA_CASTS),
                ("nan_is_found", _JAX_ARGMAX),
            ),
        ),
        Rules(
            name="torch",
            source="PyTorch 2.13 on the CPU: IndexError; negative indices are legal in x[i]",
            gather=OutOfRange.RAISE,
            scatter=OutOfRange.RAISE,
            negative_ok=True,
            nan_is_found=True,
            no_room=NoRoom.TORCH,
            sign_of_nan_is_zero=True,
            shift_beyond=Shift.OUT,
            floor_by_remainder=True,
            segment_negative=OutOfRange.RAISE,
            one_hot=OutOfRange.RAISE,
            empty_extreme_fails=True,
            sources=(
                ("nan_is_found", _TORCH_ARGMAX),
                *((name, _TORCH_RECORDED) for name in _TORCH_CORNERS),
            ),
        ),
        Rules(
            name="onnxruntime-cuda",
            source="ONNX Runtime gather_impl.cu (0 outside), scatter_nd_impl.cu (clamps)",
            gather=OutOfRange.ZERO,
            scatter=OutOfRange.CLAMP,
            negative_ok=True,
            no_room=NoRoom.CUDA,
            sources=(("no_room", _CUDA_CASTS),),
        ),
        Rules(
            name="onnxruntime",
            source="ONNX Runtime 1.32 on the CPU: an error; negative indices are legal in ONNX",
            negative_ok=True,
            no_room=NoRoom.ONNXRUNTIME,
            shift_beyond=Shift.OUT,
            labels=OutOfRange.RAISE,
            one_hot_from_end=True,
            sources=tuple((name, _ORT_RECORDED) for name in _ORT_CORNERS),
        ),
    )
}

# What the real libraries do when they are asked for their own behaviour instead of TensorFlow's.
NUMPY_NATIVE = Rules(
    name="numpy",
    source="NumPy indexing: IndexError outside, negative indices count from the end",
    negative_ok=True,
)
CUPY_NATIVE = PROFILES["cupy"]

# TensorFlow's rules for a GPU, followed by a real one: the card rounds for itself.
TF_ON_GPU = Rules(
    name="tf-gpu",
    source=_TF_GPU,
    gather=OutOfRange.ZERO,
    scatter=OutOfRange.ZERO,
    flush_subnormals=Flush.ELEMENTWISE,  # as the card's kernels do: nothing is emulated here
    sources=(("flush_subnormals", _CUPY_FLUSHES),),
)
