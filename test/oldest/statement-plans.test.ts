import "../support/on-oldest.ts";
import "../statement-plans.test.ts";
