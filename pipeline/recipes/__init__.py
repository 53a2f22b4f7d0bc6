"""Recipes: one module for each way to make a table, with its rows and its records.

`puzzle_tablebase.pipeline.kinds` lists them. A recipe's `make(table, tasks)` searches, and returns
the table's rows and records, each chunk of which is made when it is written. `costs` says what each
takes.
"""
