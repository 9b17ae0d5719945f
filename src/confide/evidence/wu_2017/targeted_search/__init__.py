"""Chapter 7: targeted search of a private network."""
