import "../support/on-oldest.ts";
import "../replay-requests.test.ts";
