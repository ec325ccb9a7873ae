/**
 * The suite that this code is made for: SHA-256 of its SHA256SUMS.
 *
 * A change of the suite alone is refused until this line is changed too
 * (`npm run suite -- --seal`), so it is seen in a review at two places.
 */
export const SUITE_ROOT = "667a9aeed7ecf1f2506655f5a7d5c0467dc2615febb1b300eda97dfbf444ef05";
