"""Senet's own: its reader, pictures and figures."""
