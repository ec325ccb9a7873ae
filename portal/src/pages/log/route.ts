import { createRoute } from "@tanstack/react-router";
import { root } from "../../root.ts";
import { defineTexts } from "../../texts/texts.ts";
import { parseLogSearch } from "./log-search.ts";

export const route = createRoute({
  getParentRoute: () => root,
  path: "/log",
  staticData: {
    nav: {
      order: 20,
      icon: "log",
      label: defineTexts({ en: { label: "Deliveries" }, de: { label: "Zustellungen" } }),
    },
  },
  validateSearch: parseLogSearch,
}).lazy(() => import("./page.tsx").then(({ page }) => page));
