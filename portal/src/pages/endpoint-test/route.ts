import { createRoute } from "@tanstack/react-router";
import { root } from "../../root.ts";
import { text } from "../../url/search.ts";

/** `type`: an event type, with `@` and a number for a version. */
export const route = createRoute({
  getParentRoute: () => root,
  path: "/endpoints/$endpointId/test",
  validateSearch: (search: Record<string, unknown>) => text(search, "type"),
}).lazy(() => import("./page.tsx").then(({ page }) => page));
