"""Programs that compute the numbers of docs/results.md from published tables and rules."""
