import { defineCommand } from "citty";

export const storage = defineCommand({
  meta: { name: "storage", description: "Exports of the delivery log, and the other stored artifacts" },
  subCommands: {
    export: () => import("./storage-export.ts").then((file) => file.exportCommand),
    library: () => import("./storage-library.ts").then((file) => file.libraryCommand),
    erase: () => import("./storage-erase.ts").then((file) => file.eraseCommand),
    doctor: () => import("./storage-doctor.ts").then((file) => file.storageDoctor),
    reconcile: () => import("./storage-reconcile.ts").then((file) => file.reconcile),
  },
});
