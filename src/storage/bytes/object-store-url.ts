/** Reads `OBJECT_STORE_URL`, and refuses whatever in it would be ignored or sent in the clear. */
import { bucketRuleId, type BucketRuleId } from "../rules/validate-bucket.ts";
import { bucketName } from "../rules/values.ts";
import { withoutSlash } from "../../shared/without-slash.ts";

/** `endpoint` null is AWS itself; else scheme, host and port. */
export type S3Location = { bucket: string; region: string; endpoint: string | null };

/** Where the bytes of stored artifacts are; `waivers` are bucket rules that the store may not know. */
export type ObjectStore =
  /** `shard`: whose folder it is, where there are several. */
  { kind: "directory"; shard?: string } | ({ kind: "s3"; waivers: readonly BucketRuleId[] } & S3Location);

const FORM = "s3://bucket?region=eu-central-1, with &endpoint=https://… for a store other than AWS";
const PARAMETERS = new Set(["endpoint", "region", "waive"]);
const LOOPBACK = /^(?:localhost|\[::1\]|127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/;

/** The store, or what to change; the fault completes the sentence "OBJECT_STORE_URL …". */
export function parseObjectStoreUrl(text: string): { store: ObjectStore } | { fault: string } {
  if (!URL.canParse(text)) return { fault: `must be ${FORM}` };
  const url = new URL(text);
  const { searchParams } = url;
  if (url.protocol !== "s3:" || !["", "/"].includes(url.pathname) || url.hash !== "") {
    return { fault: `must be ${FORM}` };
  }
  if (url.username !== "" || url.password !== "") {
    return {
      fault: "must not hold a credential: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a role",
    };
  }
  if (!bucketName.safeParse(url.host).success) return { fault: "must name a bucket of 3 to 63 characters" };
  const names = [...searchParams.keys()];
  const unknown = names.find((name) => !PARAMETERS.has(name));
  if (unknown !== undefined) return { fault: `has the unknown parameter ${unknown}` };
  if (new Set(names).size !== names.length) return { fault: "has a parameter twice" };

  const region = searchParams.get("region") ?? "";
  if (!/^[a-z0-9-]{1,32}$/.test(region)) return { fault: "needs a region, such as region=us-east-1" };
  const endpoint = searchParams.get("endpoint");
  const fault = endpoint === null ? null : faultOfEndpoint(endpoint);
  if (fault !== null) return { fault };
  const waivers = bucketRuleId
    .array()
    .safeParse((searchParams.get("waive") ?? "").split(",").filter(Boolean));
  if (!waivers.success) return { fault: "may waive bucket rules only, such as waive=BR-01,BR-07" };
  const place = {
    bucket: url.host,
    region,
    endpoint: endpoint === null ? null : withoutSlash(endpoint),
  };
  return { store: { kind: "s3", ...place, waivers: [...new Set(waivers.data)] } };
}

/** Whether what is sent there is encrypted, or stays on this machine; not so for what is no URL. */
export function isSecureOrLoopback(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || (protocol === "http:" && LOOPBACK.test(hostname));
}

function faultOfEndpoint(endpoint: string): string | null {
  if (!URL.canParse(endpoint) || !/^https?:\/\/[^/?#@]+\/?$/.test(endpoint)) {
    return "needs an endpoint that is scheme, host and port alone, such as endpoint=https://store.example:9000";
  }
  return isSecureOrLoopback(endpoint) ? null : "needs an https endpoint; http is for this machine alone";
}
