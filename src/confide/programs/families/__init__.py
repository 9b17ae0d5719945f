"""Families of programs: each with its records, its best response, its constants, and its program for a solver."""
