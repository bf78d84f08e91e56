"""What a document expects of its runs: written down, run again, judged."""
