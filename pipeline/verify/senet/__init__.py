"""The proof of Senet's table."""
