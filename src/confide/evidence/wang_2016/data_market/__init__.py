"""Chapters 3 to 5: buying private bits at known costs, at unknown ones, and under a general prior."""
