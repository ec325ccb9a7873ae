import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decodeJwt, jwtVerify } from "jose";
import { runHere } from "../../test/support/command.ts";
import { makeSecrets } from "../config.ts";

const env = { ...makeSecrets(), DATA_DIR: "/nowhere" };
const secret = Buffer.from(env.SESSION_JWT_SECRET);

const issue = (words: readonly string[]) => runHere(["token", ...words], env);

const NO_TENANT = "is no tenant id.\n  It has 1 to 64 of A-Z, a-z, 0-9, _ and -.";

describe("postern token", () => {
  it("issues one of a user or of a service, for as long as was asked", async () => {
    const user = { type: "user", tid: "acme", sub: "cli" };
    const service = { type: "service", sub: "app", permissions: ["events:write"] };
    for (const [words, claims, lifeS] of [
      [["--tenant", "acme"], { ...user, role: "owner" }, 3600],
      [["--tenant", "acme", "--role", "member", "--expires", "30m"], { ...user, role: "member" }, 1800],
      [["--tenant", "acme", "--type", "service", "--subject", "app"], { ...service, tid: "acme" }, 3600],
      [["--tenant", "*", "--type", "service", "--subject", "app"], { ...service, tid: "*" }, 3600],
      [
        ["--tenant", "acme", "--type", "service", "--subject", "app", "--permissions", "portal:grant"],
        { ...service, tid: "acme", permissions: ["portal:grant"] },
        3600,
      ],
      [
        ["--tenant", "*", "--type", "service", "--permissions", "events:write, portal:grant,tenants:read"],
        {
          type: "service",
          tid: "*",
          sub: "cli",
          permissions: ["events:write", "portal:grant", "tenants:read"],
        },
        3600,
      ],
      [["--tenant", "acme", "--expires", "36500d"], { ...user, role: "owner" }, 36_500 * 86_400],
    ] as const) {
      const { code, printed } = await issue(words);
      assert.equal(code, 0, words.join(" "));
      const { exp = 0, iat: _, ...found } = (await jwtVerify(printed.trim(), secret)).payload;
      assert.deepEqual(found, claims);
      assert.ok(Math.abs(exp - Date.now() / 1000 - lifeS) < 30);
      assert.equal(printed, `${printed.trim()}\n`);
    }
    assert.equal((await issue(["--tenant", "acme", "--expires", "1s"])).code, 0);
  });

  it("issues none for what is no tenant, no duration, or where it has no secret", async () => {
    for (const [words, message] of [
      [["--tenant", "*"], `* ${NO_TENANT}`],
      [["--tenant", "a b", "--type", "service"], `a b ${NO_TENANT}`],
      [
        ["--tenant", "acme", "--type", "service", "--role", "member"],
        "--role is of a user: name what a service may do with --permissions",
      ],
      [
        ["--tenant", "acme", "--permissions", "settings:read"],
        "--permissions are of a service: name what a user may do with --role",
      ],
      [
        ["--tenant", "*", "--type", "service", "--permissions", "portal:grants"],
        "--permissions portal:grants: a service's are events:write, portal:grant, tenants:read, tenants:act, tenants:erase",
      ],
      [
        ["--tenant", "*", "--type", "service", "--permissions", "events:write,settings:read"],
        "--permissions settings:read: a service's are events:write, portal:grant, tenants:read, tenants:act, tenants:erase",
      ],
      [
        ["--tenant", "acme", "--type", "service", "--permissions", "portal:grant,tenants:read"],
        "--permissions tenants:read needs --tenant *: it is of a backend of every tenant",
      ],
      [["--tenant", "acme", "--expires", "soon"], "--expires soon is not a duration such as 30m or 12h"],
      [["--tenant", "acme", "--expires", "0s"], "--expires 0s is not from 1s to 36500d"],
      [["--tenant", "acme", "--expires", "999ms"], "--expires 999ms is not from 1s to 36500d"],
      [["--tenant", "acme", "--expires", "999999999d"], "--expires 999999999d is not from 1s to 36500d"],
    ] as const) {
      assert.deepEqual(await issue(words), { code: 1, printed: "", errors: `postern:\n  ${message}\n` });
    }
    const { SESSION_JWT_SECRET: _, ...others } = env;
    const keys = {
      SESSION_JWKS_URL: "https://example.com/",
      SESSION_ISSUER: "app",
      SESSION_AUDIENCE: "postern",
    };
    const { code, errors } = await runHere(["token", "--tenant", "acme"], { ...others, ...keys });
    assert.deepEqual(
      [code, errors],
      [1, "postern:\n  SESSION_JWKS_URL is set: tokens come from the issuer that owns its keys\n"],
    );
  });

  it("says whom it is for, as the settings have it", async () => {
    const { printed } = await runHere(["token", "--tenant", "acme"], {
      ...env,
      SESSION_ISSUER: "app",
      SESSION_AUDIENCE: "postern",
    });
    const { iss, aud } = decodeJwt(printed.trim());
    assert.deepEqual([iss, aud], ["app", "postern"]);
  });
});
