"""Wang 2016, "Fundamental limits in data privacy": notions of privacy, and what buying private bits costs."""
