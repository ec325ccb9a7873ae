import { Component, Suspense, type ReactNode } from "react";
import { useTexts } from "../texts/texts.ts";
import { Button } from "./button.tsx";
import { focusTitle } from "./focus.ts";
import { Icon } from "./icon.tsx";
import { LostPart } from "./lazy-part.tsx";
import { texts } from "./texts.ts";

type PartProps = {
  /** While the part is loaded. */
  fallback?: ReactNode;
  /** In place of a part that cannot be loaded. */
  lost?: (retry: () => void) => ReactNode;
  onLost?: () => void;
  children: ReactNode;
};

/** Around a part that is loaded when it is first needed. If it cannot be, the page stays as it is and says so. */
export function Part({ fallback = null, lost = sayLost, onLost, children }: PartProps) {
  return (
    <Boundary lost={lost} onLost={onLost}>
      <Suspense fallback={fallback}>{children}</Suspense>
    </Boundary>
  );
}

function sayLost(retry: () => void): ReactNode {
  return <Lost onRetry={retry} />;
}

/** It stays until the part is there or not needed any more. */
function Lost({ onRetry }: { onRetry: () => void }) {
  const t = useTexts(texts);
  const retry = (): void => {
    focusTitle();
    onRetry();
  };
  return (
    <div
      role="alert"
      className="fixed inset-x-4 bottom-4 z-50 flex items-start gap-2.5 rounded-lg border border-line bg-raised p-3 shadow-raised sm:left-auto sm:w-96 print:hidden"
    >
      <Icon name="alert" className="mt-0.5 text-bad" />
      <div className="min-w-0 flex-1">
        <p className="font-medium">{t.lostTitle}</p>
        <p className="text-sm text-muted">{t.lost}</p>
      </div>
      <Button small icon="retry" onClick={retry}>
        {t.tryAgain}
      </Button>
    </div>
  );
}

type BoundaryProps = Required<Pick<PartProps, "lost" | "children">> & { onLost: (() => void) | undefined };

class Boundary extends Component<BoundaryProps, { isLost: boolean }> {
  override state = { isLost: false };

  static getDerivedStateFromError(): { isLost: boolean } {
    return { isLost: true };
  }

  override componentDidCatch(error: unknown): void {
    if (error instanceof LostPart) error.forget();
    this.props.onLost?.();
  }

  readonly retry = (): void => this.setState({ isLost: false });

  override render(): ReactNode {
    return this.state.isLost ? this.props.lost(this.retry) : this.props.children;
  }
}
