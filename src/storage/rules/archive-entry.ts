/** One entry of a ZIP as both of its headers describe it. */
import * as z from "zod";
import { integer, MAX_OBJECT_BYTES, sha256, sizeBytes, text } from "./values.ts";

/** The fixed part of a local file header. */
const LOCAL_HEADER_BYTES = 30;

/** A path as the archive spells it; whether it may be used is judged later. */
export const archivePath = text(0, 1024);

export const archiveEntry = z.strictObject({
  path: archivePath,
  type: z.enum(["file", "directory", "symlink", "other"]),
  encrypted: z.boolean(),
  data_descriptor: z.boolean(),
  local_name_equal: z.boolean(),
  local_sizes_equal: z.boolean(),
  method: integer(0, 99),
  compressed_size: sizeBytes,
  size: sizeBytes,
  crc32: z.string().regex(/^[0-9a-f]{8}$/),
  sha256,
  /** Where the local header begins, and how long it is with the name and the data. */
  local_offset: sizeBytes,
  local_length: integer(LOCAL_HEADER_BYTES, MAX_OBJECT_BYTES),
});
export type ArchiveEntry = z.infer<typeof archiveEntry>;
