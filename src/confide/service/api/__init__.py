"""The HTTP API under `/api/v1`. Each module has the entry points for one subject, and `routes` has the entry points of
all modules.
"""
