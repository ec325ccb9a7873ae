import { createRoute } from "@tanstack/react-router";
import { root } from "../../root.ts";
import { defineTexts } from "../../texts/texts.ts";
import { oneOf } from "../../url/search.ts";
import { KINDS } from "./kinds.ts";

/** `view`: exports, or all stored files, those of one `kind`. `open`: the dialog. */
export const route = createRoute({
  getParentRoute: () => root,
  path: "/exports",
  staticData: {
    nav: {
      order: 60,
      icon: "archive",
      label: defineTexts({ en: { label: "Exports and files" }, de: { label: "Exporte und Dateien" } }),
    },
  },
  validateSearch: (search: Record<string, unknown>) => ({
    ...oneOf(search, "view", ["files"]),
    ...oneOf(search, "kind", KINDS),
    ...oneOf(search, "open", ["new"]),
  }),
}).lazy(() => import("./page.tsx").then(({ page }) => page));
