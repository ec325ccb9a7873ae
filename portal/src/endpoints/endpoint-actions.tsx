import type { Endpoint } from "../api/client.ts";
import { useTexts } from "../texts/texts.ts";
import { MoreMenu } from "../ui/action-menu.tsx";
import { nameOf } from "./endpoint-names.ts";
import { texts } from "./texts.ts";
import { lazyPart } from "../ui/lazy-part.tsx";

const OpenActions = lazyPart(() =>
  import("./endpoint-actions-open.tsx").then(({ OpenActions }) => OpenActions),
);

type ActionsProps = { endpoint: Endpoint; onDeleted?: () => Promise<void> };

/** Enable, disable, edit and delete one endpoint, for who may write. A list has many: each is a button alone until it is used. */
export function EndpointActions({ endpoint, onDeleted }: ActionsProps) {
  const t = useTexts(texts);
  return (
    <MoreMenu
      label={t.actions(nameOf(endpoint.url))}
      render={(trigger) => <OpenActions trigger={trigger} endpoint={endpoint} onDeleted={onDeleted} />}
    />
  );
}
