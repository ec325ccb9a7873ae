/**
 * The suite that this code is made for: SHA-256 of its SHA256SUMS.
 *
 * A change of the suite alone is refused until this line is changed too
 * (`npm run suite -- --seal`), so it is seen in a review at two places.
 */
export const SUITE_ROOT = "8b244b56b7f3d710bc8d90f08f283d2eb73f49fd38553fcc11d87475b6cd4893";
