"""Payments that make truth best, and the search for a lie that gains."""
