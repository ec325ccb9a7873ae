/**
 * The suite that this code is made for: SHA-256 of its SHA256SUMS.
 *
 * A change of the suite alone is refused until this line is changed too
 * (`npm run suite -- --seal`), so it is seen in a review at two places.
 */
export const SUITE_ROOT = "cc2a77aa49897ccdc1c0cd428501720fd1d0cb1598f5be0c3e79cfa4d6ff1323";
