"""Studies of chapter 2 of "Fundamental limits in data privacy" (Wang 2016): three notions of privacy."""
