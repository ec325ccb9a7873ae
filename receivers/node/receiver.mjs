/** Receives webhooks. node receiver.mjs, with WEBHOOK_SECRETS: the signing secrets, separated by spaces. */
// #region verify
import { createHmac, timingSafeEqual } from "node:crypto";
// #endregion
import { createServer } from "node:http";
// #region verify
import { env } from "node:process";
// #endregion

const MAX_BODY_BYTES = 2 * 1024 * 1024;
// #region verify
const MAX_AGE_S = 300;
const keys = (env.WEBHOOK_SECRETS ?? "").split(" ").filter(Boolean).map(keyOf);
// #endregion
/** In an application: a table, written in the transaction of the work. */
const done = new Set();

// #region verify
function keyOf(secret) {
  return secret.startsWith("whsec_") ? Buffer.from(secret.slice(6), "base64") : Buffer.from(secret);
}
// #endregion

// #region verify
/** `body` has the raw bytes. One matching signature of any secret is enough: so a rotation leaves no gap. */
function isSigned(headers, body) {
  const {
    "webhook-id": id = "",
    "webhook-timestamp": timestamp = "",
    "webhook-signature": signatures = "",
  } = headers;
  if (!/^[0-9]{1,12}$/.test(timestamp)) return false;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > MAX_AGE_S) return false;
  const given = signatures.split(" ").map((one) => Buffer.from(one));
  return keys.some((key) => {
    const digest = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
    const wanted = Buffer.from(`v1,${digest}`);
    return given.some((one) => one.length === wanted.length && timingSafeEqual(one, wanted));
  });
}
// #endregion

async function readBody(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function answer(request) {
  const body = await readBody(request);
  if (body === null) return 413;
  if (!isSigned(request.headers, body)) return 401;
  const id = request.headers["webhook-id"];
  if (done.has(id)) return 204;
  const event = JSON.parse(body.toString("utf8"));
  done.add(id);
  console.log(`accepted ${id} ${event.event}`);
  return 204;
}

createServer((request, response) => {
  answer(request).then(
    (status) => response.writeHead(status).end(),
    () => response.destroy(),
  );
}).listen(Number(env.PORT ?? 8000), "127.0.0.1");
