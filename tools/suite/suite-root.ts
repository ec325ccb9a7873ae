/**
 * The suite that this code is made for: SHA-256 of its SHA256SUMS.
 *
 * A change of the suite alone is refused until this line is changed too
 * (`npm run suite -- --seal`), so it is seen in a review at two places.
 */
export const SUITE_ROOT = "aea7b15094bedb93ba232a12b417104abb100f54edea56c2a8787b9c9ab244b6";
