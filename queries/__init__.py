"""The package that answers queries from published tables: the Python interface, and all readers."""
