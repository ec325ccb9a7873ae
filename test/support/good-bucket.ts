import type { BucketConfig } from "../../src/storage/rules/validate-bucket.ts";

const ALL = { block_public_acls: true, ignore_public_acls: true, block_public_policy: true };

/** A bucket that is set up as it should be. */
export const GOOD_BUCKET: BucketConfig = {
  public_access_block: { ...ALL, restrict_public_buckets: true },
  policy_status: { is_public: false },
  ownership: "BucketOwnerEnforced",
  versioning: "Enabled",
  encryption: { algorithm: "AES256" },
  tls_only: true,
  abort_multipart_days: 7,
  noncurrent_days: 30,
  current_expiration_days: null,
  cors_origins: null,
};
