"""What is proved of sliding boards alone."""
