"""The real window used without a hand: keys, clicks, pictures."""
