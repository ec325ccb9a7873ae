import { useEffect, useLayoutEffect, useRef, type ReactNode, type RefObject } from "react";
import { useTexts } from "../texts/texts.ts";
import { texts } from "./texts.ts";

type PageProps = {
  title: string;
  /** In place of the title's text, where it needs more than text. */
  heading?: ReactNode;
  about?: ReactNode;
  /** Above the title: the way back. */
  above?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
};

/** The frame of a page: its title, which gets the focus when one comes here, its actions and its content. */
export function Page({ title, heading, about, above, actions, children }: PageProps) {
  const t = useTexts(texts);
  useEffect(() => {
    document.title = `${title} · ${t.product}`;
  }, [title, t]);
  const headingRef = useKeptFocus();
  return (
    <div className="mx-auto w-full max-w-6xl px-4 py-5 sm:px-6 lg:px-8 lg:py-7">
      {above}
      <header className="mb-5 flex flex-wrap items-start gap-x-4 gap-y-3">
        <div className="min-w-0 flex-1 basis-60">
          <h1
            ref={headingRef}
            tabIndex={-1}
            className="text-xl font-semibold tracking-tight text-balance wrap-anywhere"
          >
            {heading ?? title}
          </h1>
          {about !== undefined && <div className="mt-0.5 text-muted wrap-anywhere">{about}</div>}
        </div>
        {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

let wasLeft = false;

/** A page whose title has the focus may give way to another frame, as when its data arrive: that title has it then. */
function useKeptFocus(): RefObject<HTMLHeadingElement | null> {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    const own = heading.current;
    if (wasLeft) own?.focus({ preventScroll: true });
    return () => {
      wasLeft = own !== null && document.activeElement === own;
    };
  }, []);
  return heading;
}
