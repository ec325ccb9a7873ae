import { createRoute } from "@tanstack/react-router";
import { root } from "../../root.ts";
import { oneOf, text } from "../../url/search.ts";
import { RANGES } from "../../url/range.ts";

const SELECTS = ["failed", "missed", "all"] as const;

/** `replay`: the dialog of a new replay is open, with these events chosen. */
export const route = createRoute({
  getParentRoute: () => root,
  path: "/endpoints/$endpointId",
  validateSearch: (search: Record<string, unknown>) => ({
    ...oneOf(search, "range", RANGES),
    ...oneOf(search, "replay", SELECTS),
    ...text(search, "cause"),
  }),
}).lazy(() => import("./page.tsx").then(({ page }) => page));
