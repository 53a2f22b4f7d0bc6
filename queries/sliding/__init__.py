"""Sliding boards: what they look like, and the answers of those of every size."""
