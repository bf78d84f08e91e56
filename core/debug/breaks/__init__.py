"""Where a run stops: breakpoints, their conditions, and how often each was hit."""
