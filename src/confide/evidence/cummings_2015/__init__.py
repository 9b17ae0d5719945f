"""Cummings, Ioannidis and Ligett 2015, "Truthful linear regression"."""
