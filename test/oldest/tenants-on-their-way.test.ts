import "../support/on-oldest.ts";
import "../tenants-on-their-way.test.ts";
