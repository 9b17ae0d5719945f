"""The API, `/api/v1`: a module for each thing that operators, participants and the public may do; `routes` has all."""
