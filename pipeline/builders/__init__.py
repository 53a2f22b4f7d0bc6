"""One builder a recipe: it makes a table's rows and records."""
