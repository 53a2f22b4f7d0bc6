"""The build side: searches, builders, proofs, and the command line."""
