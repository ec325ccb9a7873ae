import { createRoute } from "@tanstack/react-router";
import { root } from "../../root.ts";

export const route = createRoute({
  getParentRoute: () => root,
  path: "/endpoints/new",
}).lazy(() => import("./page.tsx").then(({ page }) => page));
