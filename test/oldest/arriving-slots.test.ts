import "../support/on-oldest.ts";
import "../arriving-slots.test.ts";
