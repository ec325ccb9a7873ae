import { createRoute } from "@tanstack/react-router";
import { root } from "../../root.ts";
import { defineTexts } from "../../texts/texts.ts";
import { parseAuditSearch } from "./audit-search.ts";

export const route = createRoute({
  getParentRoute: () => root,
  path: "/audit",
  staticData: {
    nav: {
      order: 70,
      icon: "audit",
      label: defineTexts({ en: { label: "Audit log" }, de: { label: "Audit-Protokoll" } }),
      audience: "owner",
    },
  },
  validateSearch: parseAuditSearch,
}).lazy(() => import("./page.tsx").then(({ page }) => page));
