"""The proofs of sliding boards' tables."""
