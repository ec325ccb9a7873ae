/** From settings to the bucket in use. */
import { join } from "node:path";
import type { SignedUrlEndpoint } from "../rules/signed-url.ts";
import type { Bucket } from "./bucket.ts";
import { directoryBucketName, makeDirectoryBucket } from "./directory-bucket.ts";
import { FILES_PATH, type LinkSigner } from "./file-links.ts";
import type { ObjectStore } from "./object-store-url.ts";
import { makeS3Bucket } from "./s3-bucket.ts";
import { publicBase } from "../../shared/public-base.ts";
import { withoutSlash } from "../../shared/without-slash.ts";

/** Connects to nothing yet. `signer` and `endpoint` are for files that the API serves itself. */
export async function openBucket(options: {
  objectStore: ObjectStore;
  dataDir: string;
  signer: LinkSigner;
  endpoint: () => SignedUrlEndpoint;
}): Promise<Bucket> {
  const { objectStore, dataDir, signer, endpoint } = options;
  return objectStore.kind === "s3"
    ? makeS3Bucket(objectStore)
    : makeDirectoryBucket({
        root: join(dataDir, "storage"),
        name: directoryBucketName(objectStore.shard),
        signer,
        endpoint,
      });
}

/** Where clients find the files that the API serves: below its public address. */
export function servedEndpoint(address: Parameters<typeof publicBase>[0]): SignedUrlEndpoint {
  const { protocol, host, pathname } = new URL(publicBase(address));
  const path = withoutSlash(pathname);
  return { scheme: protocol === "http:" ? "http" : "https", host, path_prefix: `${path}${FILES_PATH}` };
}
