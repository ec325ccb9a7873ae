import "../support/on-oldest.ts";
import "../../src/replays/replay-store.test.ts";
