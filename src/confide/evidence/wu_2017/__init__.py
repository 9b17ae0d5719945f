"""Wu 2017, "Data privacy beyond differential privacy": query release, matchings, convex programs, targeted search."""
