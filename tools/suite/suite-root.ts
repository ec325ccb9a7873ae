/**
 * The suite that this code is made for: SHA-256 of its SHA256SUMS.
 *
 * A change of the suite alone is refused until this line is changed too
 * (`npm run suite -- --seal`), so it is seen in a review at two places.
 */
export const SUITE_ROOT = "146a0f8f3b58c78894db134aea43729b8e1ef79b5c3c212c89f9a9f64f978b11";
