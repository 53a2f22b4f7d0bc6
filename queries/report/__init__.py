"""The report: one page of charts."""
