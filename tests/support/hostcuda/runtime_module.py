"""Makes C++ of CuPy's runtime.pyx: run in the root of CuPy's sources, with Cython installed."""

from __future__ import annotations

import Cython
from Cython.Build import cythonize
from setuptools import Extension

NAME = "cupy_backends.cuda.api.runtime"

if __name__ == "__main__":
    cythonize(
        [Extension(NAME, [NAME.replace(".", "/") + ".pyx"], language="c++")],
        language_level=3,
        # As CuPy's own setup has them.
        compiler_directives={
            "linetrace": False,
            "profile": False,
            "embedsignature": True,
            "c_api_binop_methods": True,
            "binding": False,
            "warn.deprecated.IF": False,
            "freethreading_compatible": True,
        },
        compile_time_env={
            "CUPY_USE_CUDA_PYTHON": False,
            "CUPY_CUFFT_STATIC": False,
            "CUPY_CYTHON_VERSION": Cython.__version__,
            "CUPY_CUDA_VERSION": 13000,
            "CUPY_HIP_VERSION": 0,
        },
    )
