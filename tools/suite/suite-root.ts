/**
 * The suite that this code is made for: SHA-256 of its SHA256SUMS.
 *
 * A change of the suite alone is refused until this line is changed too
 * (`npm run suite -- --seal`), so it is seen in a review at two places.
 */
export const SUITE_ROOT = "a4eb4d665af33c2af08a5e8c2de5a16f9199e6f110eeb2bdfcaf84ec8953414a";
