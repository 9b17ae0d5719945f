"""Markets for bits among people with secret costs of privacy: payments can be negative, and so keep out people with
high costs.
"""
