import { createRouter } from "@tanstack/react-router";
import { portalPath } from "./api/base.ts";
import { routeTree } from "./routes.ts";
import { PageError, PagePending } from "./shell/page-states.tsx";

export const router = createRouter({
  routeTree,
  // Each parameter is a text. The router's own way reads what is JSON as that, and would take one number for another.
  parseSearch: (query) => Object.fromEntries(new URLSearchParams(query)),
  stringifySearch(search) {
    const given = Object.entries(search).filter(([, value]) => value !== undefined);
    const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
    return query === "" ? "" : `?${query}`;
  },
  basepath: portalPath,
  defaultPreload: "intent",
  defaultPendingMs: 300,
  defaultPendingComponent: PagePending,
  defaultErrorComponent: PageError,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
