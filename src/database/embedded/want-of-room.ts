/** What a server can't run for, in the words of its log, which is in English for an embedded one. */
const SEGMENT = /could not resize shared memory segment .*: No space left on device/;
/** PostgreSQL's words or Node's. A file's last bytes may still have been written. */
const DISK = /(?:could not .*: )?(?:no space left on device|wrote only .* bytes at block .*)/i;

/** The words where the memory that its processes share is full; null where they are not there. */
export function wantOfSharedMemory(text: string): string | null {
  return SEGMENT.exec(text)?.[0] ?? null;
}

/** The same of a disk. */
export function wantOfDisk(text: string): string | null {
  return SEGMENT.test(text) ? null : (DISK.exec(text)?.[0] ?? null);
}
