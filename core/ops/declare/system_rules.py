"""What a system does where the mathematics leaves it free: indices, casts, division."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class OutOfRange(StrEnum):
    """What happens at an index outside its dimension."""

    RAISE = "raise"  # the operation fails and names the index
    ZERO = "zero"  # gathers give 0; scatters drop the row
    WRAP = "wrap"  # modulo the size
    CLAMP = "clamp"  # to the first or last row
    NAN = "nan"  # gathers give NaN (or the integer minimum)


class NoRoom(StrEnum):
    """What Cast makes of a floating-point number that the integer type has no room for."""

    X86 = "x86"  # int32's or int64's smallest number, and its low bits
    XLA = "xla"  # the nearest number of the type; NaN gives 0
    CUDA = "cuda"  # the same, of 32 bits at least, and its low bits; NaN of or to 64 bits: 2^(w-1)

    TORCH = "torch"  # X86's, of 64 bits where PyTorch converts by way of these
    ONNXRUNTIME = "onnxruntime"  # X86's, of 64 bits for uint64


class DivideByZero(StrEnum):
    """What FloorDiv and FloorMod make of an integer over 0; TruncateDiv and TruncateMod, where
    they are XLA's own: -1, and the dividend."""

    RAISE = "raise"
    ZERO = "zero"  # 0 and 0
    XLA = "xla"  # -1, rounded down: -2 below 0; the dividend
    JAX = "jax"  # -2, but -1 of 0 and without a sign; 0


class Shift(StrEnum):
    """What a shift by less than 0 places, or by the width and more, is."""

    CLAMP = "clamp"  # by 0, and by the width less 1
    OUT = "out"  # all bits go: 0, or the sign to the right


class NanExtreme(StrEnum):
    """What NaN does to a maximum or minimum, and to its place."""

    WINS = "wins"  # the extreme is NaN; its place is another rule, nan_is_found
    XLA = "xla"  # passed over; of two, the first stays; a place starts anew after it


class Flush(StrEnum):
    """Which operations take float32 numbers below the normal range for 0, and give none."""

    NEVER = "never"
    ELEMENTWISE = "elementwise"  # comparisons and casts too; no sums and no products
    ARITHMETIC = "arithmetic"  # these, sums and products


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules that one run follows, and who says so.

    negative_ok: whether -1 means the last row. tf32: matrix products round their float32 factors to
    10 bits of fraction. nan_is_found: ArgMax and ArgMin give the place of the first NaN, instead of
    passing it over. floor_by_remainder: float FloorDiv goes through the remainder, as NumPy's does.
    mod_by_floor: float FloorMod is x - floor(x / y) · y, rounded once. segment_negative: ZERO drops
    such rows of UnsortedSegment…, whatever `negative_ok`. one_hot: a class outside gives a row of 0
    (ZERO), fails, or wraps; one_hot_from_end: -1 is the last class. labels: of
    SparseSoftmaxCrossEntropyWithLogits; None follows `gather`, without `negative_ok`.
    empty_extreme_fails: of Max and Min over nothing. source: where the rules are documented;
    sources: field -> where that one is, if elsewhere.
    """

    name: str = "tf-cpu"
    source: str = "TensorFlow 2.21 on the CPU, recorded (gather_out_of_range_cpu)"
    gather: OutOfRange = OutOfRange.RAISE
    scatter: OutOfRange = OutOfRange.RAISE
    negative_ok: bool = False
    flush_subnormals: Flush = Flush.NEVER
    tf32: bool = False
    no_room: NoRoom = NoRoom.X86
    nan_is_found: bool = False
    nan_in_extremes: NanExtreme = NanExtreme.WINS
    sign_of_nan_is_zero: bool = False
    divide_by_zero: DivideByZero = DivideByZero.RAISE
    shift_beyond: Shift = Shift.CLAMP
    floor_by_remainder: bool = False
    mod_by_floor: bool = False
    segment_negative: OutOfRange = OutOfRange.ZERO
    one_hot: OutOfRange = OutOfRange.ZERO
    one_hot_from_end: bool = False
    labels: OutOfRange | None = None
    empty_extreme_fails: bool = False
    sources: tuple[tuple[str, str], ...] = ()

    def source_of(self, field: str) -> str:
        """Where the rule of that name is documented."""
        return dict(self.sources).get(field, self.source)


TF_CPU = Rules()
