"""Sliding boards: rules, boards, tables, and move tables for searches."""
