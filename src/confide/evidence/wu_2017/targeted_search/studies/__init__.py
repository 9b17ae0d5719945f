"""Studies of Wu 2017, chapter 7: targeted search of a private network.

Target groups are simulated from public seeds. The network is simulated, too, except for film casts where the package
recbole is installed. Every study shows Target, the private search and random order together.
"""
