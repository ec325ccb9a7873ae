#!/usr/bin/env -S node --max-semi-space-size=8 --heap-growing-percent=100
/** The `postern` command. Each subcommand is loaded when it is called. */
import { enableCompileCache } from "node:module";
import { defineCommand, runMain } from "citty";
import { VERSION } from "./shared/version.ts";

enableCompileCache();

const main = defineCommand({
  meta: { name: "postern", version: VERSION, description: "Webhooks for multi-tenant applications" },
  subCommands: {
    up: () => import("./cli/up.ts").then((file) => file.up),
    api: () => import("./cli/roles.ts").then((file) => file.api),
    worker: () => import("./cli/roles.ts").then((file) => file.worker),
    migrate: () => import("./cli/migrate.ts").then((file) => file.migrateCommand),
    config: () => import("./cli/config.ts").then((file) => file.config),
    doctor: () => import("./cli/doctor.ts").then((file) => file.doctor),
    keys: () => import("./cli/keys.ts").then((file) => file.keys),
    audit: () => import("./cli/audit.ts").then((file) => file.audit),
    token: () => import("./cli/token.ts").then((file) => file.token),
    storage: () => import("./cli/storage.ts").then((file) => file.storage),
    publish: () => import("./cli/publish.ts").then((file) => file.publish),
  },
});

await runMain(main);
