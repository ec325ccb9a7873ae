import "../support/on-oldest.ts";
import "../../src/storage/upkeep/reconcile-page.test.ts";
