"""Reverse mode on graphs: gradients as operations, and what can be said about them.

`reverse` is the backward pass, over `loops` too; `explain` says why a gradient is None,
`check` compares with finite differences, `notation` writes steps as mathematics, `recognition`
finds the gradients that an imported graph holds already.
"""
