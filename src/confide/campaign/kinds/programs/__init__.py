"""Campaigns that share scarce resources by a convex program."""
