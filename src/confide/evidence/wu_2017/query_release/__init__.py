"""Chapter 3, and what chapter 2 says of the query game: many counting queries, and synthetic records."""
