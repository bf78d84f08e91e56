"""The exporters that run where PyTorch is: files of their own, which know nothing of Gradstep.

`exporter_files.py` has them by framework; they lie in assets/capture, and are printed or loaded.
"""
