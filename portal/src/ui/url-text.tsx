import { shortened } from "./shortened.ts";

/** A URL whose host is what the eye finds first. */
export function UrlText({ url, className = "" }: { url: string; className?: string }) {
  const { host, rest } = partsOf(url);
  const shown = shortened(rest);
  return (
    <span className={className} title={shown === rest ? undefined : url} translate="no">
      <span className="font-medium">{host}</span>
      <span className="text-muted">{shown}</span>
    </span>
  );
}

function partsOf(url: string): { host: string; rest: string } {
  if (!URL.canParse(url)) return { host: url, rest: "" };
  const { host, pathname, search } = new URL(url);
  return { host, rest: pathname === "/" && search === "" ? "" : `${pathname}${search}` };
}
