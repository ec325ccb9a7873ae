import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** Browsers of 2024 and newer: `light-dark()` and CSS nesting need them. */
const BROWSERS = ["chrome123", "edge123", "firefox125", "safari17.5"];
/** Modules of the first view; what is loaded after a click stays apart. */
const BASE =
  /portal\/src\/(?:api|display|session|texts|url|shell\/(?!shortcut-help|display-menu-open)|ui\/(?:badge|button|field|icon|spinner|states|texts|time|url-text))/;

// oxlint-disable-next-line import/no-default-export -- Vite reads this one
export default defineConfig({
  // The page's <base> says where it is served.
  base: "./",
  plugins: [react(), tailwindcss(), listPackages()],
  build: {
    target: BROWSERS,
    cssTarget: BROWSERS,
    // A file is cached forever; data in a script is loaded anew with each change of it.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: "manifest.json",
    reportCompressedSize: false,
    // One file of what every page needs compresses better than twenty.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: "base", test: BASE }] } } },
  },
});

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
