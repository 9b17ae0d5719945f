"""Time, memory and accuracy of confide beside named peers: `python -m benchmarks`.

One module per subject; each has `TITLE` and `run(quick) -> Report`. The runner writes a report as JSON, and the page in
the docs is made from those files, so that no figure on it was typed by hand.
"""
