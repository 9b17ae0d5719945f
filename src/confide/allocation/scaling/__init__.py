"""Parts of `SinkhornMatch`: soft demand, temperatures, leanings that break ties, rationing by public coins."""
