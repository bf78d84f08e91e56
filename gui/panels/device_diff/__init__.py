"""The device panel: the same graph on several devices, node by node."""
