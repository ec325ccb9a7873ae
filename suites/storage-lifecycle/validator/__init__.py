"""The validator of the suite: rules L, M, U, C, S and X, and the evidence they leave."""
