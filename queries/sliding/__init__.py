"""Queries of sliding boards: readers, vectorized answers and pictures for every size."""
