"""MarginalFit."""
