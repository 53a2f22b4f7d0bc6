"""Compiled kernels of queries: a reader imports them only when a question needs a search."""
