import { defineCommand } from "citty";

export const storage = defineCommand({
  meta: { name: "storage", description: "Stored artifacts" },
  subCommands: {
    doctor: () => import("./storage-doctor.ts").then((file) => file.storageDoctor),
    reconcile: () => import("./storage-reconcile.ts").then((file) => file.reconcile),
  },
});
