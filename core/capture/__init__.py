"""The exporters that run where PyTorch is, files of their own; and trainings that can be followed.

`exporter_files.py` has them by framework; they lie in assets/capture, and are printed or loaded.
What a training says while it is followed `training_lines.py` reads, where it listens
`training_sockets.py` knows.
"""
