"""What a document expects of its runs: written down, run again, judged.

`capture_expectations` writes down, `check_expectations` runs and judges.
"""
