"""Proofs of the published tables from the rules, independent of the searches that built them.

Read in this order: `claims` (what a proof is, and how it is run), `files` (what all proofs share),
and then the proofs: `goals` is the shortest to argue, `senet` and `knight_tours` come next. `kinds`
says which table has which, and `verify` runs them.
"""
