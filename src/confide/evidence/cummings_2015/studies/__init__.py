"""Studies of the statements of "Truthful linear regression" (Cummings, Ioannidis and Ligett 2015)."""
