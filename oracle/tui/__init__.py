"""`oracle watch`: what goes on in a Root, as panes of a terminal. The only package that imports `textual`."""
