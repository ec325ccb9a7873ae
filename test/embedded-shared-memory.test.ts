/** A start on the embedded database where `/dev/shm` is full, in a container of its own, which only root may make. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { it } from "node:test";
import { MAIN, runProgram, sharedSettings } from "./support/program.ts";

/** Mounts a small one over it, for this program alone. */
const SMALL = ["--mount", "sh", "-c", 'mount -t tmpfs -o size=1m tmpfs /dev/shm && exec "$0" "$@"'];

const may = spawnSync("unshare", [...SMALL, "true"]).status === 0;

it(
  "names the shared memory that is full, and what to do",
  { skip: may ? false : "only root may" },
  async () => {
    const { DATABASE_URL: _, ...settings } = await sharedSettings("", "");
    const { code, errors } = await runProgram([...SMALL, MAIN, "up"], settings, "unshare");
    assert.equal(code, 1, errors);
    assert.match(
      errors,
      /^postern:\n {2}The database's shared memory is full: could not resize shared memory segment .*: No space left on device\.\n {2}Enlarge \/dev\/shm .*\n$/m,
    );
    const doctor = await runProgram([...SMALL, MAIN, "doctor"], settings, "unshare");
    assert.match(
      doctor.output,
      /database's shared memory is full: could not resize .*\n.*Enlarge \/dev\/shm/,
    );
  },
);
