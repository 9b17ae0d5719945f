"""Records on one integer lattice, and what they cost towards whom."""
