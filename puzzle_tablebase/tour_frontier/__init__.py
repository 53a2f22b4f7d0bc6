"""States and layers of partial tours: plain, and compiled."""
