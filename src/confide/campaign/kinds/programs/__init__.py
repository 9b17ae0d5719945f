"""Campaigns that share what is scarce by a convex program."""
