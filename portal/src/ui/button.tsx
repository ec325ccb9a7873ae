import { createLink } from "@tanstack/react-router";
import type { AnchorHTMLAttributes, ButtonHTMLAttributes, Ref } from "react";
import { Icon, type IconName } from "./icon.tsx";
import { Spinner } from "./spinner.tsx";

const KINDS = {
  primary: "bg-accent text-on-accent border-transparent hover:bg-accent-strong font-medium",
  plain: "bg-surface text-ink border-line hover:bg-hover hover:border-line-strong",
  quiet: "bg-transparent text-muted border-transparent hover:bg-hover hover:text-ink",
  danger: "bg-bad text-on-bad border-transparent font-medium hover:opacity-90",
} as const;

type Look = { kind?: keyof typeof KINDS; icon?: IconName; small?: boolean };

function classes({ kind = "plain", small = false }: Look, className: string, isIconAlone: boolean): string {
  const size = small ? "h-7 text-sm" : "h-8.5";
  const width = isIconAlone ? (small ? "w-7" : "w-8.5") : small ? "px-2" : "px-3";
  return `inline-flex print:hidden items-center justify-center gap-1.5 rounded-md border whitespace-nowrap select-none transition-colors disabled:opacity-50 aria-disabled:opacity-50 ${KINDS[kind]} ${size} ${width} ${className}`;
}

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> &
  Look & { isBusy?: boolean; ref?: Ref<HTMLButtonElement> };

export function Button({
  kind,
  icon,
  small,
  isBusy = false,
  className = "",
  children,
  ...rest
}: ButtonProps) {
  const look = { ...(kind && { kind }), ...(small && { small }) };
  return (
    <button
      type="button"
      {...rest}
      {...(isBusy && { "aria-disabled": true })}
      onClick={isBusy ? (event) => event.preventDefault() : rest.onClick}
      className={classes(look, className, children === undefined)}
    >
      {isBusy ? <Spinner /> : icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}

type AnchorProps = AnchorHTMLAttributes<HTMLAnchorElement> & Look & { ref?: Ref<HTMLAnchorElement> };

/** A link that looks like a button, with the router's typed target. */
export const LinkButton = createLink(
  ({ kind, icon, small, className = "", children, ...rest }: AnchorProps) => (
    <a
      {...rest}
      className={classes(
        { ...(kind && { kind }), ...(small && { small }) },
        className,
        children === undefined,
      )}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </a>
  ),
);
