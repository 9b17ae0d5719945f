"""The campaign kind of bought means: `mean`."""
