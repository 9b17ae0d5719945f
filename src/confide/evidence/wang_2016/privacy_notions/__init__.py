"""Chapter 2 and appendix A of Wang 2016: three notions of privacy."""
