import { createRoute } from "@tanstack/react-router";
import { root } from "../../root.ts";
import { defineTexts } from "../../texts/texts.ts";
import { RANGES } from "../../url/range.ts";
import { instant, oneOf, text } from "../../url/search.ts";
import { EXPORT_STATUSES, KINDS } from "./kinds.ts";

/** `view`: exports, or all stored files, those of one `kind`. `open`: the dialog, with what the rest chooses at first. */
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
    ...oneOf(search, "range", RANGES),
    ...instant(search, "from"),
    ...instant(search, "to"),
    ...text(search, "endpoint"),
    ...text(search, "type"),
    ...oneOf(search, "status", EXPORT_STATUSES),
  }),
}).lazy(() => import("./page.tsx").then(({ page }) => page));
