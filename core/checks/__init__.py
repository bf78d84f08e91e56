"""What is found out about a program and its runs: why a value or a gradient is as it is."""
