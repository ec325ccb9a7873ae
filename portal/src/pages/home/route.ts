import { createRoute, redirect } from "@tanstack/react-router";
import { root } from "../../root.ts";

/** The first page is that of endpoints. */
export const route = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/endpoints", replace: true });
  },
});
