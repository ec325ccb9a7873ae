import { lazy, type ComponentType } from "react";

/** A part that could not be loaded. */
export class LostPart extends Error {
  /** It is loaded anew when it is shown next: React keeps the outcome of the first try. */
  readonly forget: () => void;

  constructor(cause: unknown, forget: () => void) {
    super("a part could not be loaded", { cause });
    this.name = "LostPart";
    this.forget = forget;
  }
}

/** Loaded when it is first shown, within a `<Part>`. */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): (props: Props) => React.ReactNode {
  const make = () =>
    lazy(() =>
      load().then(
        (loaded) => ({ default: loaded }),
        (error: unknown) => {
          throw new LostPart(error, () => {
            Current = make();
          });
        },
      ),
    );
  let Current = make();
  return (props) => <Current {...props} />;
}
