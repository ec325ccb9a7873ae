import { createRouter } from "@tanstack/react-router";
import { portalPath } from "./api/base.ts";
import { routeTree } from "./routes.ts";
import { PageError, PagePending } from "./shell/page-states.tsx";

export const router = createRouter({
  routeTree,
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
