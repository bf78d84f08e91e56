"""The functions that a model brings along, and the versions of operators that they take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Functions:
    """Of one ModelProto."""

    def __init__(self, proto: Any) -> None:
        self.versions = _versions(proto)
        self._held = {(f.domain, f.name, f.overload): f for f in proto.functions}

    def find(self, node: Any) -> Any:
        """The function that a node calls; None where it is an operator."""
        return self._held.get((node.domain, node.op_type, node.overload))

    def versions_of(self, function: Any) -> Mapping[str, int]:
        """Domain -> the version of its operators."""
        return {**self.versions, **_versions(function)}


def _versions(proto: Any) -> dict[str, int]:
    return {
        "" if one.domain == "ai.onnx" else one.domain: one.version for one in proto.opset_import
    }
