import "../support/on-oldest.ts";
import "../locked-endpoint.test.ts";
