"""Chapters 5 and 6: convex programs under joint differential privacy."""
