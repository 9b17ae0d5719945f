"""Channels that can be released from: coded in whole numbers, with levels certified in integers."""
