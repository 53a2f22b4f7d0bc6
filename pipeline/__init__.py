"""The build side and the door: searches, proofs, and the command line."""
