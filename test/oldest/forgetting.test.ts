import "../support/on-oldest.ts";
import "../forgetting.test.ts";
