"""HTML and drawings of what the Root holds, for a browser and for a file to send."""
