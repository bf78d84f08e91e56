"""What pyproject.toml cannot say: where NumPy's headers are; that one wheel fits every Python."""

from __future__ import annotations

from pathlib import Path

import numpy
from setuptools import Extension, setup

OLDEST = "0x030B0000"  # Python whose stable ABI is used

setup(
    ext_modules=[
        Extension(
            "gradstep_native._table",
            sorted(str(p) for p in Path("src").glob("*.c")),
            depends=["src/row.h"],
            include_dirs=[numpy.get_include()],
            define_macros=[("Py_LIMITED_API", OLDEST)],
            py_limited_api=True,
            extra_compile_args=["-std=c11", "-O2", "-Wall", "-Wextra", "-fvisibility=hidden"],
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
