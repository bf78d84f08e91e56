"""Exporters, which run where PyTorch or JAX is, files of their own; trainings that are followed.

`exporter_files.py` has them by framework; they lie in assets/capture, and are printed or loaded.
What a training says while it is followed `training_lines.py` reads, where it listens
`training_sockets.py` knows.
"""
