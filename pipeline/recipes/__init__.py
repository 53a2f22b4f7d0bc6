"""Recipes: one module for each kind of search, with its rows and its records.

`puzzle_tablebase.pipeline.searches` lists them. A recipe's `make(table, tasks)` searches, and
returns the table's rows and records, each chunk of which is made when it is written.
"""
