import { createRoute } from "@tanstack/react-router";
import { root } from "../../root.ts";
import { defineTexts } from "../../texts/texts.ts";
import { oneOf, text } from "../../url/search.ts";
import { VIEWS } from "./views.ts";

/** `type`: the chosen one, with `@` and a number for another version than the newest. */
export const route = createRoute({
  getParentRoute: () => root,
  path: "/events",
  staticData: {
    nav: {
      order: 30,
      icon: "catalog",
      label: defineTexts({ en: { label: "Event types" }, de: { label: "Ereignistypen" } }),
    },
  },
  validateSearch: (search: Record<string, unknown>) => ({
    ...text(search, "q"),
    ...text(search, "type"),
    ...oneOf(search, "view", VIEWS),
  }),
}).lazy(() => import("./page.tsx").then(({ page }) => page));
