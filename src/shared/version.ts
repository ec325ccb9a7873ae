import packageFile from "../../package.json" with { type: "json" };

/** The release, as `User-Agent: Postern/<version>` and `postern --version` say it. */
export const VERSION: string = packageFile.version;
