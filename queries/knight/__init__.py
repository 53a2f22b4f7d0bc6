"""Queries of the knight's tours: the reader, ranked tours, and samples."""
