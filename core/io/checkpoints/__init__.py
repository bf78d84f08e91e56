"""Checkpoints of a training in the forms in which they are kept.

`gradstep.core.io.checkpoint_files.CheckpointFolder` is the door; a form says how one is written,
found and read.
"""
