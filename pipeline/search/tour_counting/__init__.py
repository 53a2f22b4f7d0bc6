"""The count of a board's tours: a sweep through each half, and their meeting at the cut."""
