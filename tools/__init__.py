"""Programs for the project itself: generated docs, fuzzing, and releases."""
