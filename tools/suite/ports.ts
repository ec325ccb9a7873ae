/** The services of a case: behind the production ports, answering what the case scripts. */
import * as z from "zod";
import type {
  AuthorizeRequest,
  ConfirmingStoragePort,
  DatabasePort,
  HeadRequest,
  SignerPort,
  SignGetRequest,
  StoragePort,
} from "../../src/storage/rules/ports.ts";
import { storedObject } from "../../src/storage/rules/stored-object.ts";
import {
  contentType,
  etag,
  instant,
  sha256,
  sizeBytes,
  text,
  uuid,
  versionId,
} from "../../src/storage/rules/values.ts";
import type { Json } from "./json.ts";

const notFound = z.strictObject({ found: z.literal(false) });
const foundHead = z.strictObject({
  found: z.literal(true),
  size: sizeBytes,
  etag,
  version_id: versionId.nullable(),
  sha256: sha256.nullable(),
  content_type: contentType,
  last_modified: instant,
});
const unavailable = z.strictObject({ error: z.literal("unavailable") });

export const authorizeAnswer = z.union([
  notFound,
  z.strictObject({
    found: z.literal(true),
    object: storedObject,
    delivery: z.strictObject({ id: uuid, tenant_id: uuid }),
  }),
]);
export const headAnswer = z.union([notFound, foundHead, unavailable]);
export const signGetAnswer = z.strictObject({ url: text(1, 2048) });

/** One call with its scripted answer. */
export interface ScriptedCall {
  service: string;
  method: string;
  result: Json;
}

/** A call as it was made. */
export interface MadeCall {
  service: string;
  method: string;
  args: Json;
}

/** The case has no further answer of the method that is asked. */
export class NoAnswerError extends Error {}

/** Plays one case's services and notes what they are asked. */
export class ScriptedServices {
  readonly made: MadeCall[] = [];
  readonly database: DatabasePort;
  readonly signer: SignerPort;
  readonly storage: StoragePort;
  readonly confirmingStorage: ConfirmingStoragePort;
  readonly #script: ScriptedCall[];

  constructor(script: readonly ScriptedCall[]) {
    this.#script = [...script];
    const head = (request: HeadRequest) => headAnswer.parse(this.#answer("storage", "head", { ...request }));
    this.database = {
      authorize: async (request: AuthorizeRequest) =>
        authorizeAnswer.parse(this.#answer("database", "authorize", { ...request })),
    };
    this.signer = {
      signGet: async (request: SignGetRequest) =>
        signGetAnswer.parse(this.#answer("signer", "signGet", { ...request })),
    };
    this.confirmingStorage = { head: async (request) => head(request) };
    this.storage = {
      head: async (request) => {
        const answer = head(request);
        // To everyone but reconciling, an adapter throws what it cannot reach.
        if ("error" in answer) throw new Error("the store is unavailable");
        return answer;
      },
    };
  }

  #answer(service: string, method: string, args: Json): Json {
    this.made.push({ service, method, args });
    const index = this.#script.findIndex((call) => call.service === service && call.method === method);
    const [call] = index === -1 ? [] : this.#script.splice(index, 1);
    if (call === undefined)
      throw new NoAnswerError(`${service}.${method} is asked, and the case has no answer`);
    return call.result;
  }
}
