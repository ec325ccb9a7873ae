import { createRoute } from "@tanstack/react-router";
import { root } from "../../root.ts";
import { oneOf, text } from "../../url/search.ts";
import { LANGUAGES, TABS } from "./tabs.ts";

/** `delivery`: the request that the debugger begins with. */
export const route = createRoute({
  getParentRoute: () => root,
  path: "/endpoints/$endpointId/secret",
  validateSearch: (search: Record<string, unknown>) => ({
    ...oneOf(search, "tab", TABS),
    ...oneOf(search, "language", LANGUAGES),
    ...text(search, "delivery"),
  }),
}).lazy(() => import("./page.tsx").then(({ page }) => page));
