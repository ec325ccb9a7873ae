/**
 * The suite that this code is made for: SHA-256 of its SHA256SUMS.
 *
 * A change of the suite alone is refused until this line is changed too
 * (`npm run suite -- --seal`), so it is seen in a review at two places.
 */
export const SUITE_ROOT = "d07365a219ed2d9661f7915d8f6a5aafbbdcfae7e31f705ebdd2fe5bb3cdfd1f";
