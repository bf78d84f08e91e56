"""What commands are given: arguments that several share, made into values of this program.

`shared_arguments.py` declares them, `document_args.py` makes of them what a command works on.
"""
