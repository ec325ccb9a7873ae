/**
 * The suite that this code is made for: SHA-256 of its SHA256SUMS.
 *
 * A change of the suite alone is refused until this line is changed too
 * (`npm run suite -- --seal`), so it is seen in a review at two places.
 */
export const SUITE_ROOT = "ac6fdba0a35f30b0ff166b88b2ce0f65733e1dd0fe52aa4bd3e69dbea7921b7d";
