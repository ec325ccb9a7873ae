import "../support/on-oldest.ts";
import "../../src/replays/replay-worker.test.ts";
