/**
 * The suite that this code is made for: SHA-256 of its SHA256SUMS.
 *
 * A change of the suite alone is refused until this line is changed too
 * (`npm run suite -- --seal`), so it is seen in a review at two places.
 */
export const SUITE_ROOT = "4af0b26dd7eafe8aac95f5cad385f13b3434587a0c9ca1f114f8dc6766e36dce";
