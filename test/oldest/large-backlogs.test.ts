import "../support/on-oldest.ts";
import "../large-backlogs.test.ts";
