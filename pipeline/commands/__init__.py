"""The command line: one module for each larger command, and the modules that they share."""
