"""What is asked of a document from outside the window, by name: what to run, and what to
differentiate at which values."""
