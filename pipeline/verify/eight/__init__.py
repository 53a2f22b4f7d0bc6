"""What is proved of the 8-puzzle alone."""
