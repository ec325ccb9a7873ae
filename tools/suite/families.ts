/** The ten families: how production parses, runs and answers each. */
import * as z from "zod";
import { authorizeDownload, authorizeDownloadInput } from "../../src/storage/rules/authorize-download.ts";
import { deriveDeadline, deriveDeadlineInput } from "../../src/storage/rules/derive-deadline.ts";
import { evaluateExpiry, evaluateExpiryInput } from "../../src/storage/rules/evaluate-expiry.ts";
import { issueSignedUrl, issueSignedUrlInput } from "../../src/storage/rules/issue-signed-url.ts";
import { projectLibrary, projectLibraryInput } from "../../src/storage/rules/project-library.ts";
import { reconcileObjects } from "../../src/storage/rules/reconcile-objects.ts";
import { reconcileObjectsInput } from "../../src/storage/rules/reconcile-types.ts";
import { validateArchive, validateArchiveInput } from "../../src/storage/rules/validate-archive.ts";
import { validateBucket, validateBucketInput } from "../../src/storage/rules/validate-bucket.ts";
import { validateDelivery, validateDeliveryInput } from "../../src/storage/rules/validate-delivery.ts";
import { validateObjectKey, validateObjectKeyInput } from "../../src/storage/rules/validate-object-key.ts";
import type { Json } from "./json.ts";
import type { ScriptedServices } from "./ports.ts";
import { parseStrictText } from "./strict-json.ts";

export const familyName = z.enum([
  "authorize_download",
  "derive_deadline",
  "evaluate_expiry",
  "issue_signed_url",
  "project_library",
  "reconcile_objects",
  "validate_archive",
  "validate_bucket",
  "validate_delivery",
  "validate_object_key",
]);
export type FamilyName = z.infer<typeof familyName>;

export interface Family {
  /** Whether production admits the input. */
  admits(input: Json): boolean;
  /** Runs production on an input; throws where it does not admit it. */
  run(input: Json, services: ScriptedServices): Promise<{ output: Json; mutations: Json }>;
}

type Operation<Input> = (input: Input, services: ScriptedServices) => unknown;

function family<Input>(parser: z.ZodType<Input>, operation: Operation<Input>): Family {
  return {
    admits: (input) => parser.safeParse(input).success,
    run: async (input, services) => {
      const result: unknown = await operation(parser.parse(input), services);
      return z.object({ output: z.unknown(), mutations: z.unknown() }).transform(toPlainJson).parse(result);
    },
  };
}

/** Results become plain JSON by way of their text, so that nothing typed leaks into a digest. */
function toPlainJson(result: { output?: unknown; mutations?: unknown }): { output: Json; mutations: Json } {
  return { output: toJson(result.output), mutations: toJson(result.mutations) };
}

function toJson(value: unknown): Json {
  return parseStrictText(JSON.stringify(value));
}

export const FAMILIES: Readonly<Record<FamilyName, Family>> = {
  authorize_download: family(authorizeDownloadInput, authorizeDownload),
  derive_deadline: family(deriveDeadlineInput, deriveDeadline),
  evaluate_expiry: family(evaluateExpiryInput, evaluateExpiry),
  issue_signed_url: family(issueSignedUrlInput, issueSignedUrl),
  project_library: family(projectLibraryInput, projectLibrary),
  reconcile_objects: family(reconcileObjectsInput, (input, { confirmingStorage }) =>
    reconcileObjects(input, { storage: confirmingStorage }),
  ),
  validate_archive: family(validateArchiveInput, validateArchive),
  validate_bucket: family(validateBucketInput, validateBucket),
  validate_delivery: family(validateDeliveryInput, validateDelivery),
  validate_object_key: family(validateObjectKeyInput, validateObjectKey),
};
