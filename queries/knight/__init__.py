"""Queries of the knight's tours: the prober, ranked tours, and samples."""
