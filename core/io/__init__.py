"""Files: documents read and written, one folder or module for each format.

`open_document.py` reads any of them, `export_document.py` writes. `native` is our own file,
`tensorflow` GraphDefs, `script` Python; `disk` has what is true of all files, `sniff` tells what a
file is.
"""
