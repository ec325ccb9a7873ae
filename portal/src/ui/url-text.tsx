/** A URL whose host is what the eye finds first. */
export function UrlText({ url, className = "" }: { url: string; className?: string }) {
  const { host, rest } = partsOf(url);
  return (
    <span className={className} translate="no">
      <span className="font-medium">{host}</span>
      <span className="text-muted">{rest}</span>
    </span>
  );
}

function partsOf(url: string): { host: string; rest: string } {
  if (!URL.canParse(url)) return { host: url, rest: "" };
  const { host, pathname, search } = new URL(url);
  return { host, rest: pathname === "/" && search === "" ? "" : `${pathname}${search}` };
}
