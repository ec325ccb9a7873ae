import type { ApiServices } from "../api/services.ts";
import type { Config } from "../config.ts";
import type { DatabaseParts } from "./database-parts.ts";
import type { Background } from "../shared/every.ts";

/** Those of a process, not started. */
export type Parts = {
  /** Stopped together. */
  background: Background[];
  /** Of each database. */
  stores: {
    bucket: DatabaseParts["storage"]["bucket"];
    config: Config;
    reconciling: DatabaseParts["reconciling"];
  }[];
  listensOn(port: number): void;
  apiServices: ApiServices;
  close(): Promise<void>;
};
