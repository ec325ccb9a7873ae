/** What the dialog lists: pages by their name, and what the service finds. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api, bodyOf } from "../api/client.ts";
import { endpointsQuery } from "../api/queries.ts";
import { useDisplay } from "../display/display.ts";
import { useEndpointNames } from "../endpoints/endpoint-names.ts";
import { useNavEntries } from "../shell/navigation.tsx";
import { useSettled } from "../ui/use-settled.ts";
import { describedAs, groupsOf, type Hit } from "./hits.ts";

/** A person who types on asks once. */
const PAUSE_MS = 150;

export function useHits(q: string) {
  const asked = useSettled(q.trim(), PAUSE_MS);
  const pages = usePages(q.trim());
  const names = useEndpointNames();
  const { data: endpoints = [] } = useQuery(endpointsQuery);
  const described = describedAs(endpoints, q.trim());
  const { data, error, isFetching } = useQuery({
    queryKey: ["search", asked],
    enabled: asked !== "",
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => bodyOf(api.GET("/api/search", { signal, params: { query: { q: asked } } })),
  });
  const found = asked === "" ? [] : (data ?? []);
  const groups = groupsOf({ pages, found, described }, names);
  const isBusy = isFetching || asked !== q.trim();
  return { groups, error: asked === "" ? null : error, isBusy };
}

function usePages(q: string): Hit[] {
  const { locale } = useDisplay();
  return useNavEntries().flatMap(({ to, nav }): Hit[] => {
    const { label } = nav.label[locale];
    return label.toLowerCase().includes(q.toLowerCase())
      ? [{ kind: "page", label, open: (navigate) => void navigate({ to }) }]
      : [];
  });
}
