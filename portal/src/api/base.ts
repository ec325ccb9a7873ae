/** Where the page lies, by its `<base>`: `/portal` below the base path of the service. */
const portalUrl = new URL(".", document.baseURI);

/** The path of the portal, without a slash at its end. */
export const portalPath = portalUrl.pathname.replace(/\/$/, "");
/** The address of the service, without a slash at its end. */
export const apiBase = new URL("..", portalUrl).href.replace(/\/$/, "");
