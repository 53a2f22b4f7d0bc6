"""Queries of boards with tiles: readers, answers of whole columns, searches and figures."""
