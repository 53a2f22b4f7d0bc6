"""The explorer: one page with the answers inside."""
