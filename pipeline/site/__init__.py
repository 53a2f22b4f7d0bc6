"""The site: published tables as a folder for any host, and as a data set for hubs.

`writer` writes the folder as a whole, `data_set` the card and `croissant.json`, `pages` the start
page and the pages on the formats.
"""
