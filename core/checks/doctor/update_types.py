"""The operations that step by a gradient times one learning rate, behind refs and handles."""

from __future__ import annotations

GRADIENT_DESCENT = ("ApplyGradientDescent", "ResourceApplyGradientDescent")
MOMENTUM = ("ApplyMomentum", "ResourceApplyMomentum")
DESCENTS = (*GRADIENT_DESCENT, *MOMENTUM)
