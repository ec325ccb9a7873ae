import { Component, Suspense, type ReactNode } from "react";
import { useTexts } from "../texts/texts.ts";
import { texts } from "./texts.ts";
import { toast } from "./toast.tsx";

type PartProps = {
  /** While the part is loaded. */
  fallback?: ReactNode;
  /** In place of a part that cannot be loaded. */
  lost?: ReactNode;
  children: ReactNode;
};

/** Around a part that is loaded when it is first needed. If it cannot be, the page stays as it is and says so. */
export function Part({ fallback = null, lost = null, children }: PartProps) {
  const t = useTexts(texts);
  const tell = (): void => toast({ title: t.lostTitle, about: t.lost, isBad: true });
  return (
    <Boundary lost={lost} onLost={tell}>
      <Suspense fallback={fallback}>{children}</Suspense>
    </Boundary>
  );
}

type BoundaryProps = { lost: ReactNode; onLost: () => void; children: ReactNode };

class Boundary extends Component<BoundaryProps, { isLost: boolean }> {
  override state = { isLost: false };

  static getDerivedStateFromError(): { isLost: boolean } {
    return { isLost: true };
  }

  override componentDidCatch(): void {
    this.props.onLost();
  }

  override render(): ReactNode {
    return this.state.isLost ? this.props.lost : this.props.children;
  }
}
