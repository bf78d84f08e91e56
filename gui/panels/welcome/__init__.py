"""The start page: examples, recent files; and what stands there while a file is read.

`welcome_page.py` is the page, `opening_page.py` what stands there meanwhile.
"""
