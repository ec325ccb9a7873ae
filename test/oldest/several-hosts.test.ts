import "../support/on-oldest.ts";
import "../several-hosts.test.ts";
