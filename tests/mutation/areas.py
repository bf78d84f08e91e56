"""What is measured: the modules of each area, and the tests that hold them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Area:
    """modules, tests: folders or files below the root; older trees may lack some."""

    name: str
    modules: tuple[str, ...]
    tests: tuple[str, ...]

    def files(self, root: Path) -> list[str]:
        """The modules that there are in this tree."""
        found = (path for name in self.modules for path in _files(root / name))
        return sorted({path.relative_to(root).as_posix() for path in found})

    def test_files(self, root: Path) -> list[str]:
        found = (path for name in self.tests for path in _files(root / name, "test_*.py"))
        return sorted({path.relative_to(root).as_posix() for path in found})


def _files(path: Path, pattern: str = "*.py") -> list[Path]:
    if path.is_dir():
        return [p for p in path.rglob(pattern) if p.stat().st_size > 200]
    return [path] if path.is_file() else []


def _in(folder: str, names: str) -> tuple[str, ...]:
    return tuple(f"{folder}/{name}.py" for name in names.split())


AREAS = {
    area.name: area
    for area in (
        Area(
            "why",
            (
                *_in(
                    "core/autodiff",
                    "explain/missing_gradient check/check_result check/tensor_gradcheck "
                    "check/override_advice",
                ),
                "core/checks",
            ),
            (
                *("tests/core/autodiff", "tests/core/checks"),
                *("tests/core/cli/test_grad.py", "tests/core/host/test_engine_service.py"),
            ),
        ),
        Area(
            "comparison",
            _in(
                "gpu",
                "compare comparison_conclusion hazards lockstep sum_terms tensor_distance "
                "safe_norms rule_attribution tolerances device_run emulation_gaps "
                "result_agreement",
            ),
            ("tests/gpu",),
        ),
        Area(
            "differentiation",
            _in(
                "core/autodiff",
                "reverse/contributions reverse/rule_call reverse/differentiate "
                "reverse/tf_gradients reverse/tf_gradient_order reverse/gradient_request "
                "reverse/gate_gradients reverse/vjp_reuse reverse/backward_pass "
                "reverse/seed_cotangents reverse/vjp_result reverse/unbroadcast "
                "explain/gradient_paths reverse/backward_slice check/promote_float64",
            ),
            ("tests/core/autodiff",),
        ),
        Area(
            "timeline",
            _in(
                "core/debug",
                "breaks/breakpoints motion/cursor breaks/hit_counts motion/legal_moves "
                "motion/move_table motion/level motion/travel history/loop_iterations "
                "motion/loop_place concurrency/observed_writes motion/debug_session "
                "concurrency/shared_variables motion/stopped_state "
                "breaks/compiled_breakpoints history/timeline motion/stepping",
            ),
            ("tests/core/debug",),
        ),
        Area(
            "hit",
            _in(
                "gui/canvas", "scene/scene_arrays scene/scope_frames scene/hit_test interact/mouse"
            ),
            _in(
                "tests/gui/canvas",
                "scene/test_scene_arrays interact/test_context_menu test_editing "
                "scene/test_scope_frames scene/test_hit_test interact/test_rename_field "
                "test_scene paint/test_paint_order",
            ),
        ),
    )
}
