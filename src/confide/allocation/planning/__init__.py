"""What a matching would give, which settings to take, and which mechanism: from public sizes alone."""
