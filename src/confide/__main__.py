"""Entry point of `python -m confide`, which runs the command line."""

from confide.cli import main

main()
