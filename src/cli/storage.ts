import { defineCommand } from "citty";

export const storage = defineCommand({
  meta: { name: "storage", description: "Stored artifacts" },
  subCommands: {
    reconcile: () => import("./storage-reconcile.ts").then((file) => file.reconcile),
  },
});
