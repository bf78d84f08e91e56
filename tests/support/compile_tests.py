"""Every test compiled with its asserts written anew, before the workers of pytest want that.

Each of them would do it for all; to collect the tests once for it takes half as long again.
python -m tests.support.compile_tests
"""

from __future__ import annotations

import compileall
from pathlib import Path

from _pytest.assertion import AssertionState, rewrite
from _pytest.config import _prepareconfig

ROOT = Path(__file__).parents[2]


def main() -> None:
    """What pytest would keep beside each test; what cannot be compiled is said when it is run."""
    for package in ("core", "gui", "gpu"):
        compileall.compile_dir(ROOT / package, quiet=2)
    config = _prepareconfig(["--collect-only", "-q", str(Path(__file__))])
    state = AssertionState(config, "rewrite")
    for source in sorted((ROOT / "tests").rglob("*.py")):
        if not source.name.startswith(("test_", "conftest.")):
            continue  # pytest leaves these as they are
        compiled = rewrite.get_cache_dir(source) / f"{source.stem}{rewrite.PYC_TAIL}"
        if compiled.exists():
            continue
        compiled.parent.mkdir(exist_ok=True)
        stamp, code = rewrite._rewrite_test(source, config)
        rewrite._write_pyc(state, code, stamp, compiled)


if __name__ == "__main__":
    main()
