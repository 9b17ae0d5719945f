"""The same where no person may have more than a capped weight, and what nobody can then lose more than."""
