/**
 * The suite that this code is made for: SHA-256 of its SHA256SUMS.
 *
 * A change of the suite alone is refused until this line is changed too
 * (`npm run suite -- --seal`), so it is seen in a review at two places.
 */
export const SUITE_ROOT = "1d75a23924dd7409706cee3c1c2a74241ff54e7560a0e603f877d5b0666650ee";
