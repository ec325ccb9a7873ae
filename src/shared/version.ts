import packageFile from "../../package.json" with { type: "json" };

/** The release, as `User-Agent: Postern/<version>` and `postern --version` say it. */
export const VERSION: string = packageFile.version;

/** The oldest major of Node that runs the program. */
export const NEEDED_NODE = 24;
