/** The `postern` command and what is below it. Each subcommand is loaded when it is called. */
import { defineCommand } from "citty";
import { VERSION } from "../shared/version.ts";

export const commands = defineCommand({
  meta: { name: "postern", version: VERSION, description: "Webhooks for multi-tenant applications" },
  subCommands: {
    up: () => import("./up.ts").then((file) => file.up),
    api: () => import("./roles.ts").then((file) => file.api),
    worker: () => import("./roles.ts").then((file) => file.worker),
    migrate: () => import("./migrate.ts").then((file) => file.migrateCommand),
    config: () => import("./config.ts").then((file) => file.config),
    health: () => import("./health.ts").then((file) => file.health),
    doctor: () => import("./doctor/doctor.ts").then((file) => file.doctor),
    keys: () => import("./keys.ts").then((file) => file.keys),
    catalog: () => import("./client/catalog.ts").then((file) => file.catalog),
    audit: () => import("./audit.ts").then((file) => file.audit),
    token: () => import("./token.ts").then((file) => file.token),
    storage: () => import("./storage/storage.ts").then((file) => file.storage),
    replay: () => import("./client/replay.ts").then((file) => file.replay),
    tenants: () => import("./tenants/tenants.ts").then((file) => file.tenants),
    listen: () => import("./client/listen.ts").then((file) => file.listen),
    portal: () => import("./client/portal.ts").then((file) => file.portal),
    deliveries: () => import("./client/deliveries.ts").then((file) => file.deliveries),
    publish: () => import("./client/publish.ts").then((file) => file.publish),
  },
});
