import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makeLinkSigner } from "./file-links.ts";

const ENDPOINT = { scheme: "https" as const, host: "postern.example:8443", path_prefix: "/base/files" };
const REQUEST = {
  bucket: "artifacts",
  key: "v1/t/a/d/b/a/1/export.zip",
  version_id: "v-1",
  issued_at: "2026-03-01T12:34:56.000Z",
  expires_in: 300,
  response_content_type: "application/zip",
  response_content_disposition: `attachment; filename="it's (1)!*.zip"`,
};
const [FIRST, FORMER, STRANGE] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte));

/** Place and query of a link, as a request for it has them. */
function split(link: string): { place: string; query: string } {
  const [place = "", query = ""] = link.slice("https://postern.example:8443/base/files/".length).split("?");
  return { place, query };
}

function signerOf(...keys: (Buffer | undefined)[]) {
  return makeLinkSigner(keys.filter((key) => key !== undefined));
}

describe("a link that was signed here", () => {
  it("is the same text for the same request, each value strictly encoded", () => {
    const link = signerOf(FIRST).sign(ENDPOINT, REQUEST);
    assert.equal(
      link.replace(/[0-9a-f]{64}$/, "…"),
      "https://postern.example:8443/base/files/artifacts/v1/t/a/d/b/a/1/export.zip" +
        "?X-Amz-Algorithm=POSTERN-HMAC-SHA256&X-Amz-Date=20260301T123456Z&X-Amz-Expires=300" +
        "&X-Amz-SignedHeaders=host" +
        "&response-content-disposition=attachment%3B%20filename%3D%22it%27s%20%281%29%21%2A.zip%22" +
        "&response-content-type=application%2Fzip&versionId=v-1&X-Amz-Signature=…",
    );
    assert.equal(signerOf(FIRST).sign(ENDPOINT, REQUEST), link);
  });

  it("gives back what it was signed for, and ends with its seconds", () => {
    const signer = signerOf(FIRST);
    assert.deepEqual(signer.verify(split(signer.sign(ENDPOINT, REQUEST))), {
      bucket: "artifacts",
      key: REQUEST.key,
      versionId: "v-1",
      contentType: "application/zip",
      contentDisposition: REQUEST.response_content_disposition,
      endsAtMs: Date.parse("2026-03-01T12:39:56.000Z"),
    });
  });

  it("is good under every key of the ring, and the first signs", () => {
    const former = split(signerOf(FORMER).sign(ENDPOINT, REQUEST));
    assert.ok(signerOf(FIRST, FORMER).verify(former) !== null);
    assert.equal(signerOf(FIRST, STRANGE).verify(former), null);
    const own = split(signerOf(FIRST, FORMER).sign(ENDPOINT, REQUEST));
    assert.deepEqual([signerOf(FIRST).verify(own) !== null, signerOf(FORMER).verify(own)], [true, null]);
  });

  it("is good at any address, since proxies rewrite it", () => {
    const other = signerOf(FIRST).sign({ scheme: "http", host: "127.0.0.1", path_prefix: "" }, REQUEST);
    const own = split(signerOf(FIRST).sign(ENDPOINT, REQUEST));
    assert.equal(other, `http://127.0.0.1/${own.place}?${own.query}`);
  });

  it("is no good with anything added, moved, spelled otherwise or taken away", () => {
    const signer = signerOf(FIRST);
    const { place, query } = split(signer.sign(ENDPOINT, REQUEST));
    const pairs = query.split("&");
    const signature = pairs.at(-1) ?? "";
    const altered: [place: string, query: string][] = [
      [`${place}x`, query],
      [place.replace("export", "Export"), query],
      [place, `x=1&${query}`],
      [place, `${query}&x=1`],
      [place, `${query}0`],
      [place, `${query}\n`],
      [place, query.replace("Expires=300", "Expires=301")],
      [place, query.replace("%2F", "%2f")],
      [place, query.replace("&versionId=v-1", "")],
      [place, [...pairs.slice(0, -1).toReversed(), signature].join("&")],
      [place, pairs.slice(0, -1).join("&")],
      [place, query.replace(signature, signature.toUpperCase())],
      [place, signature],
      [place, `&${signature}`],
      [place, ""],
    ];
    assert.deepEqual(
      altered.map(([at, asked]) => signer.verify({ place: at, query: asked })),
      altered.map(() => null),
    );
  });
});

it("nothing signs links without a key", () => {
  assert.throws(() => makeLinkSigner([]), /at least one key/);
});
