"""The data panel: where rows come from, which placeholders they go to, and in what batches.

`data_panel.py` puts it together; what it shows of a run is asked of the engine by
`gradstep.gui.model.data_view`.
"""
