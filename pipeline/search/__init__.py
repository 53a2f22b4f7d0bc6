"""The algorithms. They see numbers and arrays, never a puzzle; only here is anything compiled."""
