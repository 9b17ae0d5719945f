"""Old names of each family in use: what is done with each, and what the new one gives."""
