/** Every page, a line for its import and a line in the list. Both merge by themselves (.gitattributes). */
import { root } from "./root.ts";
import { route as audit } from "./pages/audit/route.ts";
import { route as endpoint } from "./pages/endpoint/route.ts";
import { route as endpointEdit } from "./pages/endpoint-edit/route.ts";
import { route as endpointNew } from "./pages/endpoint-new/route.ts";
import { route as endpoints } from "./pages/endpoints/route.ts";
import { route as exports } from "./pages/exports/route.ts";
import { route as endpointTest } from "./pages/endpoint-test/route.ts";
import { route as events } from "./pages/events/route.ts";
import { route as home } from "./pages/home/route.ts";
import { route as endpointSecret } from "./pages/endpoint-secret/route.ts";
import { route as log } from "./pages/log/route.ts";
import { route as tenants } from "./pages/tenants/route.ts";

const pages = {
  audit,
  endpoint,
  endpointEdit,
  endpointNew,
  endpointSecret,
  endpointTest,
  endpoints,
  exports,
  events,
  home,
  log,
  tenants,
};

export const routeTree = root.addChildren(pages);
