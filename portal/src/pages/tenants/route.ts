import { createRoute } from "@tanstack/react-router";
import { root } from "../../root.ts";
import { defineTexts } from "../../texts/texts.ts";
import { text } from "../../url/search.ts";

export const route = createRoute({
  getParentRoute: () => root,
  path: "/tenants",
  staticData: {
    nav: {
      order: 10,
      icon: "people",
      label: defineTexts({ en: { label: "Tenants" }, de: { label: "Mandanten" } }),
      audience: "operator",
    },
  },
  validateSearch: (search: Record<string, unknown>) => text(search, "prefix"),
}).lazy(() => import("./page.tsx").then(({ page }) => page));
