import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** Browsers of 2024 and newer: `light-dark()` and CSS nesting need them. */
const BROWSERS = ["chrome123", "edge123", "firefox125", "safari17.5"];
/** Runs while the rest is on its way, so it is a file of its own. */
const FIRST = /portal\/src\/(?:start|api\/base|session\/(?:session|parent-page))\.ts$/;
/** What every page needs, and what most need; what is loaded after a click stays apart. */
const BASE =
  /portal\/src\/(?:main|api|display|endpoints\/endpoint-names|session|texts|url|shell\/(?!shortcut-help|display-menu-open|navigation-drawer)|ui\/(?:badge|button|field|icon|select|spinner|states|texts|time|url-text))/;

// oxlint-disable-next-line import/no-default-export -- Vite reads this one
export default defineConfig({
  // The page's <base> says where it is served.
  base: "./",
  plugins: [react(), tailwindcss(), listPackages(), fetchMain()],
  build: {
    target: BROWSERS,
    cssTarget: BROWSERS,
    // A file is cached forever; data in a script is loaded anew with each change of it.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: "manifest.json",
    reportCompressedSize: false,
    // One file of what every page needs compresses better than twenty.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: "first", test: FIRST, priority: 1 },
            { name: "base", test: BASE },
          ],
        },
      },
    },
  },
});

/** Has the browser fetch the main part beside the first script, which imports it. */
function fetchMain(): Plugin {
  return {
    name: "postern-fetch-main",
    transformIndexHtml: {
      order: "post",
      handler(_html, { bundle = {} }) {
        const chunks = Object.values(bundle).filter((output) => output.type === "chunk");
        const main = chunks.find(({ moduleIds }) => moduleIds.some((id) => id.endsWith("/src/main.tsx")));
        if (main === undefined) throw new Error("the portal has no main part");
        // The first script itself is in the page.
        const others = chunks.filter(({ fileName, name }) => name !== "first" && main.imports.includes(fileName));
        return [main, ...others].map(({ fileName }) => ({
          tag: "link",
          attrs: { rel: "modulepreload", crossorigin: true, href: `./${fileName}` },
          injectTo: "head",
        }));
      },
    },
  };
}

/** Writes the names of the packages that are part of the built files, for their licences. */
function listPackages(): Plugin {
  return {
    name: "postern-list-packages",
    generateBundle(_options, bundle) {
      // Tailwind's base styles are part of the style sheet, and of no module.
      const names = new Set(["tailwindcss"]);
      for (const output of Object.values(bundle)) {
        if (output.type !== "chunk") continue;
        for (const id of Object.keys(output.modules)) {
          const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1];
          if (name !== undefined) names.add(name);
        }
      }
      this.emitFile({ type: "asset", fileName: "packages.json", source: JSON.stringify([...names].sort()) });
    },
  };
}
