"""Variables, random numbers, and the ops that train."""
