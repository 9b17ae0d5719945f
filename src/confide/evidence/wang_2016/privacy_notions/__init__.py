"""Chapter 2 and appendix A: three notions of privacy."""
