/**
 * Runs first, and is small: the session opens and the page's script is asked for
 * while the rest of the portal is still on its way.
 */
import "./app.css";
import { portalPath } from "./api/base.ts";
import { listenToParent } from "./session/parent-page.ts";
import { startSession } from "./session/session.ts";

const pages = import.meta.glob("./pages/*/page.tsx");

startSession();
listenToParent();
void import("./main.tsx");
const [, name = ""] = /^\/([a-z]+)$/.exec(location.pathname.slice(portalPath.length)) ?? [];
// The router asks for it again when it shows the page, and says what is wrong.
pages[`./pages/${name}/page.tsx`]?.().catch(() => undefined);
