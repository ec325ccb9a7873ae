import "../support/on-oldest.ts";
import "../../src/replays/candidate-store.test.ts";
