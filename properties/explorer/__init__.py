"""The explorer: a counterexample, or a protocol to walk in, made to be looked at.

``view.py`` works out what there is to show, once, as plain data. Each view renders that
and nothing else; ``page.py`` does so as one page that needs no server and no network.
"""
