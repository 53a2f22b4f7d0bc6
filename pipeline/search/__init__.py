"""The algorithms see numbers and arrays, never a puzzle. Only they and proofs are compiled."""
