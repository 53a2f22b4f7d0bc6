"""Programs for the project itself: mutation tests, fuzzing, and generated docs."""
