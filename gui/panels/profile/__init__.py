"""The profile: where the time and the bytes of a run go."""
