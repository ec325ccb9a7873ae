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
import("./main.tsx").catch(sayNotLoaded);
const [, name = ""] = /^\/([a-z]+)$/.exec(location.pathname.slice(portalPath.length)) ?? [];
// The router asks for it again when it shows the page, and says what is wrong.
pages[`./pages/${name}/page.tsx`]?.().catch(() => undefined);

/** In both languages: the texts are part of what did not arrive. */
function sayNotLoaded(): void {
  const place = document.querySelector("#root");
  if (place === null) return;
  const line = document.createElement("p");
  line.className = "p-6 text-center";
  line.textContent =
    "The portal could not be loaded. Reload the page. · Das Portal konnte nicht geladen werden. Laden Sie die Seite neu.";
  line.setAttribute("role", "alert");
  place.replaceChildren(line);
}
