"""Studies of Wang 2016, chapters 3 to 5: what buying private bits costs."""
