import type { ReactNode, Ref } from "react";
import { Button } from "./button.tsx";

type PagedListProps = {
  label: string;
  /** Of the button for the next page. */
  more: string;
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
  ref: Ref<HTMLDivElement>;
  children: ReactNode;
};

/** Rows in a frame, and a button for the next page while there is one. */
export function PagedList({ label, more, query, ref, children }: PagedListProps) {
  return (
    <div ref={ref}>
      <ul aria-label={label} className="divide-y divide-line rounded-xl border border-line bg-surface">
        {children}
      </ul>
      {query.hasNextPage && (
        <p className="p-4 text-center">
          <Button small isBusy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {more}
          </Button>
        </p>
      )}
    </div>
  );
}
