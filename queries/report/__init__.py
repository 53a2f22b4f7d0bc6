"""The report: a page of charts, or the charts as single pictures."""
