import "../support/on-oldest.ts";
import "../../src/storage/upkeep/reconcile-pass.test.ts";
