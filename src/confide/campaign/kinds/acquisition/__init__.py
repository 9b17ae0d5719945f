"""The campaign kind `mean`: its file, its pages and its plan. A campaign of this kind buys the mean of a number."""
