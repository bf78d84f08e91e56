"""The debugger: a state machine over recorded runs, with no window."""
