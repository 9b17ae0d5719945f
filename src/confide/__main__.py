"""`python -m confide`: the command line."""

from confide.cli import main

main()
