"""The algorithms. They see numbers and arrays, never a puzzle; only they and the proof compile."""
