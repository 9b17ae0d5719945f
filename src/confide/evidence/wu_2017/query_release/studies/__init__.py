"""Studies of Wu 2017, chapters 2 and 3: answers to many counting queries, and synthetic records.

The tables Adult, KDD99 and Netflix are not part of the package. Simulated tables (stand-ins) replace them, with the
same columns and sizes, and records simulated from a public seed. One table is real: that of the RAND health insurance
experiment, which an optional package contains.
"""
