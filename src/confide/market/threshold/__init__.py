"""Buying bits from people whose valuation of privacy nobody knows: payments below 0 keep out whoever finds it dear."""
