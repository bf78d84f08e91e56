"""What panels are made of: tables, trees of rows, cards, labels, heat tiles."""
