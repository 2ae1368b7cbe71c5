"""`oracle web`: what the Root holds, as pages for a browser on this machine."""
