"""Files on a disk: replaced at once or not at all, locked, claimed, weighed before read."""
