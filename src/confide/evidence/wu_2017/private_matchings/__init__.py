"""Chapter 4: matchings and allocations of bundles under joint differential privacy."""
