"""The knight: rules, boards, tables, and the ranking of tours."""
