import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { isSpecialUseName } from "./special-names.ts";
import { parseWebhookUrl, type UrlPolicy } from "./url-rules.ts";

const POLICY: UrlPolicy = { blockedPorts: new Set([0, 22, 25, 6379]), privateTargetsAllowed: false };
const PRIVATE: UrlPolicy = { ...POLICY, privateTargetsAllowed: true };

/** The rule that refuses, or the host and port that were understood. */
function judge(text: string, policy: UrlPolicy = POLICY): string {
  const verdict = parseWebhookUrl(text, policy);
  return verdict.ok ? `${verdict.url.host} ${verdict.url.port}` : verdict.rule;
}

const ACCEPTED: Record<string, string> = {
  "https://hooks.example.com/in": "hooks.example.com 443",
  "HTTPS://Hooks.Example.COM": "hooks.example.com 443",
  "https://example.org": "example.org 443",
  "https://hooks.shop.dev:8443/a?b=c#d": "hooks.shop.dev 8443",
  "https://shop.dev.": "shop.dev 443",
  "https://shop.dev.:444/": "shop.dev 444",
  "https://shop.dev:0443/": "shop.dev 443",
  "https://shop.dev:/": "shop.dev 443",
  "https://shop.dev?q": "shop.dev 443",
  "https://bücher.de/": "xn--bcher-kva.de 443",
  "https://shop。dev/": "shop.dev 443",
  "https://a-b.c--d.dev/@user%00:80": "a-b.c--d.dev 443",
  "https://1.1.1.1/": "1.1.1.1 443",
  "https://1.1.1.1:8443": "1.1.1.1 8443",
  "https://[2606:4700:0::1111]/": "2606:4700::1111 443",
  "https://localhost.shop.dev/": "localhost.shop.dev 443",
  "https://1e100.net/": "1e100.net 443",
  "https://ＳＨＯＰ.ｄｅｖ/": "shop.dev 443",
  "https://shop\u00ad.dev/": "shop.dev 443",
  // Digits that no parser reads as an address: a name, judged by where it leads.
  "https://१२७.०.०.१/": "xn--e4bcp.xn--d4b.xn--d4b.xn--e4b 443",
  "https://127.0.0.1.shop.dev/": "127.0.0.1.shop.dev 443",
  "https://169-254-169-254.shop.dev/": "169-254-169-254.shop.dev 443",
  "https://shop.dev/?next=http://169.254.169.254/latest/meta-data": "shop.dev 443",
  "https://shop.dev/../../etc/passwd%00%0d%0aHost:%20localhost": "shop.dev 443",
  "https://shop.dev/http://user:pw@localhost:22/": "shop.dev 443",
  "https://shop.dev/?q=${jndi:ldap://127.0.0.1}&x=<script>'--": "shop.dev 443",
  "https://shop.dev/#@localhost": "shop.dev 443",
};

const REFUSED: Record<string, string> = {
  "": "empty",
  " https://shop.dev": "not_https",
  "http://shop.dev": "not_https",
  "ftp://shop.dev": "not_https",
  "//shop.dev": "not_https",
  "https:/shop.dev": "not_https",
  "https:shop.dev": "not_https",
  "https:\\\\shop.dev": "not_https",
  "shop.dev": "not_https",
  "ws://shop.dev": "not_https",
  "file:///etc/passwd": "not_https",
  "gopher://shop.dev:70/_": "not_https",
  "data:text/plain,x": "not_https",
  "httрs://shop.dev": "not_https",
  "\u200bhttps://shop.dev": "not_https",
  "\ufeffhttps://shop.dev": "not_https",
  "https:///": "unparsable",
  "javascript:alert(1)": "not_https",
  "https://shop.dev\n/": "control_character",
  "https://shop\t.dev/": "control_character",
  "https://shop.dev/\0": "control_character",
  "https://shop.dev/\u007f": "control_character",
  "https://shop.dev/\u0085": "control_character",
  "https://shop.dev/\u009f": "control_character",
  "https://shop.dev/\ud800": "control_character",
  "https://shop.dev/a b": "white_space",
  "https://shop.dev/a\u00a0b": "white_space",
  "https://shop.dev/\u2028": "white_space",
  "https://shop.dev/\ufeff": "white_space",
  "https://shop.dev\\@evil.dev/": "backslash",
  "https://shop.dev/#\\": "backslash",
  "https://user@shop.dev/": "userinfo",
  "https://user:pass@shop.dev/": "userinfo",
  "https://@shop.dev/": "userinfo",
  "https://:@shop.dev/": "userinfo",
  "https://%73hop.dev/": "percent_in_authority",
  "https://shop.dev%2f/": "percent_in_authority",
  "https://[fe80::1%25eth0]/": "percent_in_authority",
  "https://[fe80::1%eth0]/": "percent_in_authority",
  "https://127%2e0%2e0%2e1/": "percent_in_authority",
  "https://%31%32%37.0.0.1/": "percent_in_authority",
  "https://shop.dev:%34%34%33/": "percent_in_authority",
  "https://%00.shop.dev/": "percent_in_authority",
  "https://": "unparsable",
  "https:///shop.dev/": "unparsable",
  "https://?shop.dev": "unparsable",
  "https://#shop.dev": "unparsable",
  "https://shop.dev:99999/": "unparsable",
  "https://shop.dev:-1/": "unparsable",
  "https://shop.dev:8x/": "unparsable",
  "https://[::1/": "unparsable",
  "https://[1.2.3.4]/": "unparsable",
  "https://256.1.1.1/": "unparsable",
  "https://1.2.3.4.5/": "unparsable",
  "https://shop.dev<x>/": "unparsable",
  "https://shop.dev|x/": "unparsable",
  "https://shop^.dev/": "unparsable",
  "https://shop.dev:443:443/": "unparsable",
  "https://shop.dev:４４３/": "unparsable",
  "https://shop.dev:+443/": "unparsable",
  "https://shop.dev:65536/": "unparsable",
  "https://[::1]x/": "unparsable",
  "https://[::ffff:127.0.0.01]/": "unparsable",
  "https://[v1.x]/": "unparsable",
  "https://℀.dev/": "unparsable",
  "https://shop.dev\u202e/": "unparsable",
  "https://127.1/": "ipv4_spelling",
  "https://127.0.1/": "ipv4_spelling",
  "https://2130706433/": "ipv4_spelling",
  "https://0x7f000001/": "ipv4_spelling",
  "https://0x7f.0.0.1/": "ipv4_spelling",
  "https://0X7F.1/": "ipv4_spelling",
  "https://0177.0.0.1/": "ipv4_spelling",
  "https://017700000001/": "ipv4_spelling",
  "https://127.0.0.01/": "ipv4_spelling",
  "https://1.1.1.1./": "ipv4_spelling",
  "https://0/": "ipv4_spelling",
  "https://１２７.0.0.1/": "ipv4_spelling",
  "https://①②⑦.0.0.1/": "ipv4_spelling",
  "https://127。0。0。1/": "ipv4_spelling",
  "https://𝟏𝟐𝟕.0.0.1/": "ipv4_spelling",
  "https://₁₂₇.0.0.1/": "ipv4_spelling",
  "https://0xffffffff/": "ipv4_spelling",
  "https://0300.0250.1/": "ipv4_spelling",
  "https://1.1.1.1.:8443/": "ipv4_spelling",
  "https://1.1.1.0x1/": "ipv4_spelling",
  "https://4294967296/": "unparsable",
  "https://1.1.1.256/": "unparsable",
  "https://1.1.1.08/": "unparsable",
  "https://٢.٢.٢.٢/": "unparsable",
  "https://shop..dev/": "host_name",
  "https://shop.dev../": "host_name",
  "https://.shop.dev/": "host_name",
  "https://./": "host_name",
  "https://sh_op.dev/": "host_name",
  "https://xn--.dev/": "host_name",
  "https://-shop.dev/": "host_name",
  "https://shop-.dev/": "host_name",
  "https://sho*p.dev/": "host_name",
  "https://sho,p.dev/": "host_name",
  [`https://${"a".repeat(64)}.dev/`]: "host_name",
  [`https://${"a.".repeat(126)}dev/`]: "host_name",
  "https://shop/": "single_label",
  "https://shop./": "single_label",
  "https://localhost/": "special_name",
  "https://LocalHost./": "special_name",
  "https://a.localhost/": "special_name",
  "https://printer.local/": "special_name",
  "https://metadata.google.internal/": "special_name",
  "https://router.home.arpa/": "special_name",
  "https://ｌｏｃａｌｈｏｓｔ/": "special_name",
  "https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/": "special_name",
  "https://local\u00adhost/": "special_name",
  "https://local\u200bhost/": "special_name",
  "https://api。localhost。/": "special_name",
  "https://instance-data.ec2.internal/": "special_name",
  "https://kubernetes.default.svc.cluster.local/": "special_name",
  "https://1.0.0.127.in-addr.arpa/": "special_name",
  "https://metadata/": "single_label",
  "https://xn--a/": "single_label",
  "https://kubernetes/": "single_label",
  "https://shop.dev:22/": "blocked_port",
  "https://shop.dev:0/": "blocked_port",
  "https://shop.dev:06379/": "blocked_port",
};

describe("a webhook URL", () => {
  for (const [text, understood] of Object.entries(ACCEPTED)) {
    it(`${text} is taken as ${understood}`, () => equal(judge(text), understood));
  }

  for (const [text, rule] of Object.entries(REFUSED)) {
    it(`${JSON.stringify(text.slice(0, 60))} is refused: ${rule}`, () => equal(judge(text), rule));
  }

  it("may have 2,048 characters and no more", () => {
    const start = "https://shop.dev/";
    equal(judge(start + "a".repeat(2048 - start.length)), "shop.dev 443");
    equal(judge(start + "a".repeat(2049 - start.length)), "too_long");
  });

  it("may have a name of 253 characters and no more", () => {
    const labels = `${"a".repeat(63)}.`.repeat(3);
    equal(judge(`https://${labels}${"b".repeat(57)}.dev/`), `${labels}${"b".repeat(57)}.dev 443`);
    equal(judge(`https://${labels}${"b".repeat(58)}.dev/`), "host_name");
  });

  it("has its origin without the port that is https' own", () => {
    for (const text of ["https://Shop.dev/a", "https://shop.dev.:443", "https://shop.dev:0443/"]) {
      const verdict = parseWebhookUrl(text, POLICY);
      ok(verdict.ok);
      equal(verdict.url.origin, "https://shop.dev");
    }
  });

  it("keeps its text but for the fragment", () => {
    const verdict = parseWebhookUrl("HTTPS://Shop.DEV.:444/a/../ü?x=1#frag#ment", POLICY);
    deepEqual(verdict, {
      ok: true,
      url: {
        href: "HTTPS://Shop.DEV.:444/a/../ü?x=1",
        origin: "https://shop.dev:444",
        host: "shop.dev",
        port: 444,
        pathAndQuery: "/%C3%BC?x=1",
        isIp: false,
      },
    });
  });

  it("with an IPv6 host has it in brackets in the origin only", () => {
    const verdict = parseWebhookUrl("https://[2606:4700::1]:444/", POLICY);
    ok(verdict.ok);
    equal(verdict.url.origin, "https://[2606:4700::1]:444");
    equal(verdict.url.host, "2606:4700::1");
    ok(verdict.url.isIp);
  });

  it("may have a special or single-label name where private targets are allowed, and no other liberty", () => {
    equal(judge("https://localhost:8443/", PRIVATE), "localhost 8443");
    equal(judge("https://receiver/", PRIVATE), "receiver 443");
    equal(judge("https://a.internal/", PRIVATE), "a.internal 443");
    equal(judge("https://localhost:22/", PRIVATE), "blocked_port");
    equal(judge("https://127.1/", PRIVATE), "ipv4_spelling");
    equal(judge("https://rec_eiver/", PRIVATE), "host_name");
  });

  it("never makes the judge throw, and what is accepted keeps every promise", () => {
    const parts = fc.constantFrom(
      "https://",
      "a.b",
      ".",
      "@",
      ":",
      "/",
      "\\",
      "%41",
      "[::1]",
      "0x7f.1",
      "#",
      "?",
      "é",
    );
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.webUrl({ validSchemes: ["https"] }),
      fc.array(parts, { maxLength: 8 }).map((list) => `https://${list.join("")}`),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const verdict = parseWebhookUrl(text, POLICY);
        if (!verdict.ok) return;
        const { url } = verdict;
        const parsed = new URL(url.href);
        equal(parsed.hostname.replace(/\.$/, "").replace(/^\[|\]$/g, ""), url.host);
        equal(parsed.username + parsed.password, "");
        equal(url.host, url.host.toLowerCase());
        ok(!url.href.includes("#") && text.startsWith(url.href));
        ok(/^[\x21-\x7e]+$/.test(url.pathAndQuery));
        equal(new URL(url.origin + url.pathAndQuery).port, parsed.port);
        // What is stored is judged the same when it is judged again.
        deepEqual(parseWebhookUrl(url.href, POLICY), verdict);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("a special-use name", () => {
  const names =
    "localhost local internal home.arpa onion test invalid example alt lan home corp intranet private localdomain in-addr.arpa ip6.arpa";
  for (const name of names.split(" ")) {
    it(`${name} is one, with any case, a trailing dot, and below it`, () => {
      for (const form of [name, name.toUpperCase(), `${name}.`, `a.${name}`, `a.b.${name.toUpperCase()}.`]) {
        ok(isSpecialUseName(form), form);
      }
    });
  }

  it("is told by whole labels", () => {
    for (const name of [
      "example.com",
      "example.net",
      "example.org",
      "mylocal",
      "a.latest",
      "test.dev",
      "arpa",
    ]) {
      ok(!isSpecialUseName(name), name);
    }
  });
});
