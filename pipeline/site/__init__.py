"""The site: published tables as a folder for any host, and as a data set for hubs."""
