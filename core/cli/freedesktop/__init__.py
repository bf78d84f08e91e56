"""An entry in the menu, icons and a file type, where desktops follow freedesktop.org.

`entry_files.py` has what is written, `written_files.py` writes it and takes it away again.
"""
