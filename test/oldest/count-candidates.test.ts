import "../support/on-oldest.ts";
import "../../src/replays/count-candidates.test.ts";
