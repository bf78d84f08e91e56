"""The one thing that pyproject.toml cannot say: a build packs nothing that an older one left."""

from __future__ import annotations

import shutil

from setuptools import setup
from setuptools.command.build_py import build_py


class FreshBuild(build_py):
    """`pip install .` builds in build/, which stays: a module that has moved since would be packed
    with its successor, and every operation in it be declared twice."""

    def run(self) -> None:
        if not self.editable_mode:
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        """Without this file, which lies where the package begins."""
        found: list[tuple[str, str, str]] = super().find_package_modules(package, package_dir)
        return [module for module in found if module[:2] != ("gradstep", "setup")]


setup(cmdclass={"build_py": FreshBuild})
