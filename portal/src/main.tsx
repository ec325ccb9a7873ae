import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queryClient } from "./api/query-client.ts";
import { router } from "./router.ts";
import { Gate } from "./session/gate.tsx";
import { tolerateTranslators } from "./translators.ts";
import { Toasts } from "./ui/toast.tsx";

const place = document.querySelector("#root");
if (place === null) throw new Error("the page has no root");
tolerateTranslators();
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
