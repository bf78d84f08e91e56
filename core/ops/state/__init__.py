"""What handles stand for while a run goes on: queues, stacks, tensor arrays, tables, traces.

Values that never change: putting something in gives another value. `opaque_state.py` is their base.
"""
