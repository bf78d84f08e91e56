"""Gradstep without a window: graph, differentiation, engine, debugger and files."""
