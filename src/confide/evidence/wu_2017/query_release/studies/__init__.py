"""Studies of Wu 2017, chapters 2 and 3: answers to many counting queries, and synthetic records.

Adult, KDD99 and Netflix are not shipped. Stand-ins have their columns and sizes and made-up records, from a public
seed; a table of the RAND health insurance experiment, which an extra ships, is real.
"""
