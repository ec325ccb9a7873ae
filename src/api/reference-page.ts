/** The page of the API's reference around Swagger UI: the only parts of it that are ours. */

/** Relative addresses, so that it works under any base path and behind any proxy. */
export const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Postern API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="reference/swagger-ui.css">
<link rel="stylesheet" href="reference/page.css">
<script src="reference/swagger-ui-bundle.js" defer></script>
<script src="reference/start.js" defer></script>
</head>
<body>
<noscript>The reference needs JavaScript. The same is in <a href="openapi.json">openapi.json</a>.</noscript>
<main id="reference"></main>
</body>
</html>
`;

export const INIT = `const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();
SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  // Without it a badge would send the document's address to a validator elsewhere.
  validatorUrl: null,
});
`;

export const STYLE = `body { margin: 0; }
/* On a phone, wide tables scroll by themselves, and the page stays as wide as the screen. */
.swagger-ui .markdown table, .swagger-ui .renderedMarkdown table { display: block; overflow-x: auto; }
.swagger-ui .responses-inner { overflow-x: auto; }
/* In the dark it would be dark on dark. */
.dark-mode .swagger-ui .examples-select__section-label, .dark-mode .swagger-ui .header-col { color: #e4e6e6; }
.swagger-ui .info { margin: 24px 0; }
.swagger-ui .info .title small pre { font-family: inherit; }
`;
