import { defineCommand } from "citty";

export const storage = defineCommand({
  meta: { name: "storage", description: "Exports of the delivery log, and the other stored artifacts" },
  subCommands: {
    export: () => import("./storage-export.ts").then((file) => file.exportCommand),
    library: () => import("./storage-library.ts").then((file) => file.libraryCommand),
    erase: () => import("./storage-erase.ts").then((file) => file.eraseCommand),
    hold: () => import("./storage-hold.ts").then((file) => file.holdCommand),
    doctor: () => import("./storage-doctor.ts").then((file) => file.storageDoctor),
    own: () => import("./storage-own.ts").then((file) => file.ownCommand),
    adopt: () => import("./storage-adopt.ts").then((file) => file.adoptCommand),
    trash: () => import("./storage-trash.ts").then((file) => file.trashCommand),
    reconcile: () => import("./storage-reconcile.ts").then((file) => file.reconcile),
  },
});
