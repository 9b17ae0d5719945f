"""Wang 2016, "Fundamental limits in data privacy": three notions of privacy, and the cost of buying private yes-or-no
answers (bits).
"""
