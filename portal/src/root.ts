import { createRootRoute } from "@tanstack/react-router";
import { NotFound } from "./shell/not-found.tsx";
import { Shell } from "./shell/shell.tsx";
import type { Catalogue } from "./texts/texts.ts";
import type { IconName } from "./ui/icon.tsx";

declare module "@tanstack/react-router" {
  interface StaticDataRouteOption {
    /** Shown in the navigation, in this order. */
    nav?: {
      order: number;
      icon: IconName;
      label: Catalogue<{ label: string }>;
      audience?: "operator" | "owner";
    };
  }
}

export const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });
