"""What a file is, told from a few of its bytes: signs that formats are known by."""
