"""The command line: one module per command, named like it, and what they share.

`command_line.py` is the entry and `command_table.py` the table. What several commands share is in
`arguments` (what they are given), `runs` (what they run), `output` (what they print), and `console`
(the debugger in the terminal).
"""
