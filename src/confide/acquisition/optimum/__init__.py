"""The cheapest weights and noise: the certified optimum, the grid that keeps truth best, and what was printed."""
