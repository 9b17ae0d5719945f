"""The ascending auction, of single goods and of bundles: how it runs, halts, keeps a reserve, clears again."""
