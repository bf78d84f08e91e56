"""Running a plan: bound calls one after the other, feeds in, variables kept, costs measured.

`tf_session.py` runs as TensorFlow's Session does, `recording.py` keeps every value, `fast_run.py`
none.
"""
