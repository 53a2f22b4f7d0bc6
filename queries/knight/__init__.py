"""The knight's own: its reader, pictures and figures."""
