import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./app.css";
import { queryClient } from "./api/query-client.ts";
import { router } from "./router.ts";
import { Gate } from "./session/gate.tsx";
import { listenToParent } from "./session/parent-page.ts";
import { startSession } from "./session/session.ts";
import { Toasts } from "./ui/toast.tsx";

startSession();
listenToParent();
loadPage();
const place = document.querySelector("#root");
if (place === null) throw new Error("the page has no root");
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <Gate>
        <RouterProvider router={router} />
      </Gate>
      <Toasts />
    </QueryClientProvider>
  </StrictMode>,
);

/** The script of the page that is asked for comes while the session opens. */
function loadPage(): void {
  const [routes] = router.getMatchedRoutes(router.latestLocation.pathname);
  for (const route of routes) {
    // Whoever shows the page asks again, and says what is wrong.
    router.loadRouteChunk(route)?.catch(() => undefined);
  }
}
