"""Studies of Wu 2017, chapter 7: targeted search of a private network.

Target groups are made up, from public seeds. The network is made up too, but for film casts where the package recbole
is installed. Target, the private search and random order are always shown together.
"""
