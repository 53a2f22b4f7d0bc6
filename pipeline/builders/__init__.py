"""The builders: one for each kind of recipe, producing a table's rows and records."""
