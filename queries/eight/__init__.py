"""The 8-puzzle's queries: its reader, vectorized answers, fast lookups and figures."""
