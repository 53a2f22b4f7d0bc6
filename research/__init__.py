"""Programs that compute sections of docs/results.md from published tables, rules and packages."""
