/** The header by which a trace continues: version, trace id, parent id, flags (https://www.w3.org/TR/trace-context/). */
export const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;
