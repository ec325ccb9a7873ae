export const VIEWS = ["example", "schema", "typescript"] as const;
export type View = (typeof VIEWS)[number];
