import "../support/on-oldest.ts";
import "../endpoint-notices.test.ts";
