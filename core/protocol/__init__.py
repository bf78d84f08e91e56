"""What the window and the engine process say to each other, and the bytes it travels as.

`messages.py` and `queries.py` have the messages, `framing.py` the packets.
"""
