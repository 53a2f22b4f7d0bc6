"""Queries of the knight's tours: the reader, ranked tours, samples, pictures and figures."""
