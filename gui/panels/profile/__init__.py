"""The profile: where the time and the bytes of a run go.

`profile_panel.py` is the panel: `profile_table.py`, `profile_icicle.py`, `profile_passes.py`.
"""
