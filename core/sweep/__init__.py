"""Sweeps: one training made with many settings and seeds.

What a setting is written as is `setting_syntax.py`, what it sets in a document
`setting_targets.py`, which runs there are `run_list.py`; what is kept of them, and read again by
the command line and the window, `sweep_folder.py`. Nothing is run here: see
gradstep.core.cli.runs.sweep_run.
"""
