"""Scarce goods when values are secret: private auctions under joint differential privacy."""
