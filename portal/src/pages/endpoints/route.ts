import { createRoute } from "@tanstack/react-router";
import { root } from "../../root.ts";
import { defineTexts } from "../../texts/texts.ts";
import { oneOf, text } from "../../url/search.ts";

const STATES = ["enabled", "disabled", "failing"] as const;

export const route = createRoute({
  getParentRoute: () => root,
  path: "/endpoints",
  staticData: {
    nav: {
      order: 10,
      icon: "endpoints",
      label: defineTexts({ en: { label: "Endpoints" }, de: { label: "Endpunkte" } }),
    },
  },
  validateSearch: (search: Record<string, unknown>) => ({
    ...text(search, "q"),
    ...oneOf(search, "state", STATES),
  }),
}).lazy(() => import("./page.tsx").then(({ page }) => page));
