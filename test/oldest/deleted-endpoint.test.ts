import "../support/on-oldest.ts";
import "../deleted-endpoint.test.ts";
