import "../support/on-oldest.ts";
import "../../src/database/heartbeat.test.ts";
