"""Wu 2017, "Data privacy beyond differential privacy": queries, matchings, convex programs and targeted search."""
