import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { endpointsQuery } from "../api/queries.ts";

/** How lists name endpoints, by id: the URL without its scheme. Deleted ones have no name. */
export function useEndpointNames(): ReadonlyMap<string, string> {
  const { data } = useQuery(endpointsQuery);
  return useMemo(
    () => new Map((data ?? []).map(({ id, url }) => [id, url.replace(/^https:\/\//, "")])),
    [data],
  );
}
