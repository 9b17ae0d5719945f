"""The web pages for participants, operators and the public. The pages are made on the server. Only the form of a
campaign in which participants' devices draw reports needs a script.
"""
