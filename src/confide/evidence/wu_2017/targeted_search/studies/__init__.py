"""Studies of Wu 2017, chapter 7: targeted search of a private network.

Groups of targets are simulated from public seeds. The network is simulated, too, unless the package recbole is
installed, which contains a network of film casts. Target is the search without privacy. Random order is the baseline
that examines people in random order.
"""
