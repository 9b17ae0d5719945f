"""Families of programs. Each family has its records, its best response, its constants, and its program for a solver."""
