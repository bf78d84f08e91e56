"""Special functions are right to a few units in the last place of float64, far out, too."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.ops.declare.table import lookup
from tests.support.each_case import each_of
from tests.support.one_op import run

# mpmath 1.4 computed these to 30 digits.
EXACT: dict[str, list[tuple[Any, ...]]] = {
    "Erf": [
        (1e-300, 1.1283791670955126e-300),
        (1e-05, 1.12837916705790003e-5),
        (0.3, 0.328626759459127416),
        (-0.84, -0.765142711454994517),
        (0.99, 0.8385080695553698),
        (1.01, 0.846810496228276701),
        (2.5, 0.999593047982555041),
        (5.9, 0.999999999999999928),
    ],
    "Erfc": [
        (-3.0, 1.99997790950300141),
        (1e-05, 0.999988716208329421),
        (0.49, 0.488331738811476909),
        (0.51, 0.470756380158829563),
        (1.7, 0.0162095414092254392),
        (6.0, 2.15197367124989131e-17),
        (15.0, 7.21299417245120667e-100),
        (26.5, 2.21090766426373428e-307),
    ],
    "Erfinv": [
        (1e-300, 8.86226925452758036e-301),
        (0.1, 0.088855990494257692),
        (-0.49, -0.465868600235057337),
        (0.51, 0.488122050515958822),
        (0.999, 2.32675376551352449),
        (-0.9999999999, -4.57282495854492494),
    ],
    "Ndtri": [
        (1e-300, -37.0470962993611992),
        (1e-20, -9.26234008979840758),
        (0.01, -2.32634787404084109),
        (0.3, -0.524400512708040816),
        (0.50001, 2.50662827488208627e-5),
        (0.99, 2.32634787404084077),
        (0.9999999999, 6.36134088969742186),
    ],
    "Lgamma": [
        (1e-300, 690.775527898213705),
        (0.3, 1.09579799481807556),
        (0.9999, 5.77297915611938628e-5),
        (1.0001, -5.7713342220471268e-5),
        (1.4616, -0.121486290035897328),
        (2.0001, 4.22816581129199463e-5),
        (2.999, 0.692224593717570959),
        (3.001, 0.694070162336396419),
        (9.99, 12.7793152143501934),
        (10.01, 12.8243502624482473),
        (171.5, 709.143163030928242),
        (10000000000.0, 2.20258509288810581e11),
        (-0.5, 1.2655121234846454),
        (-3.9, -0.709468008908392328),
        (-30.2, -73.6663213919451843),
    ],
    "Digamma": [
        (1e-05, -100000.577199215673),
        (0.3, -3.50252422220013312),
        (1.2, -0.289039896592188352),
        (1.6, 0.126047452773476328),
        (5.0, 1.50611766843180047),
        (9.99, 2.25070037283120112),
        (10.01, 2.25280370031813574),
        (10000000000.0, 23.0258509298904568),
        (-0.3, 2.11330977963539887),
        (-4.5, 1.61109314858175112),
        (-20.7, 0.771593185082505544),
    ],
    "Zeta": [
        (1.0001, 1.0, 10000.577222947539),
        (2.0, 1.0, 1.64493406684822644),
        (3.5, 0.01, 1.0000001090612074e7),
        (2.0, 50.0, 0.0202013332266971258),
        (30.0, 1.5, 5.21509620381573183e-6),
        (83.0, 807.0, 5.55185786988887672e-241),
        (2.0, -1.7, 14.6322016338840144),
        (3.0, -12.2, -123.520864984567457),
    ],
    "Polygamma": [
        (1.0, 0.2, 26.2673772054237763),
        (1.0, 30.0, 0.0338950603577399442),
        (2.0, 1.5, -0.828796644234319996),
        (5.0, 4.0, 0.0415583846359543789),
        (10.0, 0.5, -7.43182450885876898e9),
        (1.0, -2.3, 14.7259121609612915),
        (2.0, -7.6, -22.2914810969042864),
        (3.0, 1000000.0, 2.000003000002e-18),
    ],
}
# In units of the last place. Reflected values are small differences of larger ones.
FEW, REFLECTED = 8, 60


@each_of("type", EXACT)
def test_values(type: str) -> None:
    for *inputs, wanted in EXACT[type]:
        found = run(type, *[np.float64(x) for x in inputs])
        units = abs(found - wanted) / np.spacing(abs(wanted))
        reflected = inputs[-1] < 0 and type in ("Lgamma", "Digamma", "Zeta", "Polygamma")
        assert units <= (REFLECTED if reflected else FEW), (type, inputs, found, wanted)


@each_of("type", [name for name in EXACT if len(EXACT[name][0]) == 2])
def test_shorter_types_are_rounded_once(type: str) -> None:
    x = np.array([0.125, 0.25, 0.5, 0.75])
    wide = run(type, x)
    for dtype in (np.float16, np.float32):
        found = run(type, x.astype(dtype))
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, wide.astype(dtype))


def test_inverses_undo() -> None:
    y = np.linspace(-0.999, 0.999, 1001)
    np.testing.assert_allclose(run("Erf", run("Erfinv", y)), y, rtol=1e-14, atol=0)
    x = np.linspace(-37, 0.5, 1001)
    p = 0.5 * run("Erfc", -x / np.sqrt(2))
    np.testing.assert_allclose(run("Ndtri", p), x, rtol=1e-12, atol=1e-15)


def test_the_error_function_ends_at_one() -> None:
    """In float64, too, where TensorFlow 2.21 gives NaN at the infinities."""
    for dtype in (np.float32, np.float64):
        assert run("Erf", np.array([np.inf, -np.inf, 30, -30], dtype)).tolist() == [1, -1, 1, -1]


def test_no_numbers() -> None:
    for type in EXACT:
        inputs = [np.zeros((0, 3), np.float32)] * len(lookup(type).inputs)
        assert run(type, *inputs).shape == (0, 3)
