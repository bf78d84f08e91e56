"""What commands print: text for people, JSON for programs, event files for TensorBoard.

`command_output.py` is the door.
"""
