"""The algorithms. They see numbers and arrays, never a puzzle. Only search and proof are compiled."""
