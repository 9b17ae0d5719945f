"""Valuations from tables, lists of wishes and PrefLib files."""
