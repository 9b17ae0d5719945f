"""The campaign kinds of the market: `bits`, `bits-unknown-costs` and `bits-pair`."""
