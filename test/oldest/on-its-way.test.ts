import "../support/on-oldest.ts";
import "../../src/database/on-its-way.test.ts";
