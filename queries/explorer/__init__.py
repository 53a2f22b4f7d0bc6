"""The explorer: a self-contained HTML page that answers queries in the browser."""
