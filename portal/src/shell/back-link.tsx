import { createLink } from "@tanstack/react-router";
import type { AnchorHTMLAttributes } from "react";
import { Icon } from "../ui/icon.tsx";

/** Above a page's title: one level up. */
export const BackLink = createLink(({ children, ...rest }: AnchorHTMLAttributes<HTMLAnchorElement>) => (
  <a
    {...rest}
    className="mb-2 -ml-1 inline-flex items-center gap-1 rounded px-1 text-sm text-muted hover:text-ink"
  >
    <Icon name="chevron" className="size-3.5 rotate-180" />
    {children}
  </a>
));
