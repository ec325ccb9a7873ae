import { defineCommand } from "citty";

export const catalog = defineCommand({
  meta: { name: "catalog", description: "The event catalog: check it, compare it, import types into it" },
  subCommands: {
    check: () => import("./catalog-check.ts").then((file) => file.checkCommand),
    diff: () => import("./catalog-diff.ts").then((file) => file.diffCommand),
    import: () => import("./catalog-import.ts").then((file) => file.importCommand),
  },
});
