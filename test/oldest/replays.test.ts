import "../support/on-oldest.ts";
import "../../src/replays/replays.test.ts";
