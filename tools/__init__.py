"""Programs for the project itself: mutation tests, fuzzing, generated docs and pictures."""
