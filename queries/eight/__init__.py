"""The 8-puzzle's own: its reader, whole columns, the quick lookups, pictures and figures."""
