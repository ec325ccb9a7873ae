import "../support/on-oldest.ts";
import "../../src/replays/older-than-the-log.test.ts";
