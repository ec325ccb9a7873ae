import { Link, useRouter, type AnyRoute } from "@tanstack/react-router";
import { useIsOperator, usePermissions } from "../session/permissions.ts";
import { useTexts } from "../texts/texts.ts";
import { Icon } from "../ui/icon.tsx";
import { texts } from "./texts.ts";

type Nav = NonNullable<AnyRoute["options"]["staticData"]>["nav"];
export type NavEntry = { to: string; nav: NonNullable<Nav> };

/** The pages that this session may open, as their routes say. */
export function useNavEntries(): NavEntry[] {
  const router = useRouter();
  const isOperator = useIsOperator();
  const { isOwner } = usePermissions();
  const routes: AnyRoute[] = Object.values(router.routesById);
  return routes
    .flatMap((route) => {
      const nav = route.options.staticData?.nav;
      return nav === undefined ? [] : [{ to: String(route.fullPath), nav }];
    })
    .filter(({ nav }) => (nav.audience === "operator") === isOperator)
    .filter(({ nav }) => nav.audience !== "owner" || isOwner)
    .sort((one, other) => one.nav.order - other.nav.order);
}

export function Navigation({ onChoose }: { onChoose?: () => void }) {
  const t = useTexts(texts);
  return (
    <nav aria-label={t.navigation}>
      <ul className="flex flex-col gap-0.5">
        {useNavEntries().map((entry) => (
          <Entry key={entry.to} {...entry} {...(onChoose && { onChoose })} />
        ))}
      </ul>
    </nav>
  );
}

function Entry({ to, nav, onChoose }: NavEntry & { onChoose?: () => void }) {
  const { label } = useTexts(nav.label);
  return (
    <li>
      <Link
        to={to}
        onClick={onChoose}
        className="flex items-center gap-2.5 rounded-md px-2.5 py-1.5 text-muted hover:bg-hover hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-ink aria-[current=page]:[&_svg]:text-accent forced-colors:aria-[current=page]:forced-color-adjust-none forced-colors:aria-[current=page]:bg-[SelectedItem] forced-colors:aria-[current=page]:text-[SelectedItemText] forced-colors:aria-[current=page]:[&_svg]:text-inherit"
      >
        <Icon name={nav.icon} />
        {label}
      </Link>
    </li>
  );
}
