"""The campaign kind `search`: its file, its plan, its run and its pages. A search publishes a list of the members
found.
"""
