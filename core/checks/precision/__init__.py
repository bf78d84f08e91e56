"""What a shorter or longer number format does to a result, and which operations make the error.

`precision_report.py` is the door.
"""
