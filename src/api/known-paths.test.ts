/** 405 or 404 for what is no route. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fastify, type FastifyInstance } from "fastify";
import { answerError } from "./error-answers.ts";
import { KnownPaths } from "./known-paths.ts";

/** Routes below a prefix; those that come later are not learned. */
async function serve(prefix: string, addRoutes: (app: FastifyInstance) => void): Promise<FastifyInstance> {
  const app = fastify({ routerOptions: { maxParamLength: 100 } });
  const paths = new KnownPaths({ maxParamLength: 100 });
  app.setErrorHandler(answerError);
  app.addHook("preParsing", async (request, reply) => {
    if (request.is404) paths.refuse(request.url, reply);
  });
  await app.register(
    async (routes) => {
      routes.setNotFoundHandler(() => undefined);
      paths.learn(routes, () => addRoutes(routes));
      routes.get("/later", () => "later");
    },
    { prefix },
  );
  return app;
}

type Method = "GET" | "POST" | "PUT" | "DELETE" | "PATCH";

async function answerTo(app: FastifyInstance, method: Method, url: string): Promise<string> {
  const { statusCode, headers, body } = await app.inject({ method, url });
  const allow = headers["allow"];
  return statusCode === 200 ? `200 ${body}` : [statusCode, allow].flatMap((one) => one ?? []).join(" ");
}

describe("a path that has routes", () => {
  it("answers 405 with the methods that it has, sorted, to others", async () => {
    const app = await serve("/api/things", (routes) => {
      routes.post("/", () => "made");
      routes.get("/", () => "all");
      routes.get("/:id", () => "one");
      routes.route({ method: ["PUT", "DELETE"], url: "/:id", handler: () => "changed" });
    });
    for (const [method, url, expected] of [
      ["GET", "/api/things", "200 all"],
      ["GET", "/api/things/", "200 all"],
      ["POST", "/api/things", "200 made"],
      ["DELETE", "/api/things", "405 GET, HEAD, POST"],
      ["DELETE", "/api/things/", "405 GET, HEAD, POST"],
      ["DELETE", "/api/things?x=1", "405 GET, HEAD, POST"],
      ["GET", "/api/things/a", "200 one"],
      ["DELETE", "/api/things/a", "200 changed"],
      ["PATCH", "/api/things/a", "405 DELETE, GET, HEAD, PUT"],
      ["PATCH", "/api/things/a/b", "404"],
      ["GET", "/api/thing", "404"],
      ["GET", "/api/things/later", "200 later"],
      ["PATCH", "/api/things/later", "405 DELETE, GET, HEAD, PUT"],
    ] as const)
      assert.equal(await answerTo(app, method, url), expected, `${method} ${url}`);
    await app.close();
  });

  it("is no id of the path with a parameter beside it", async () => {
    const app = await serve("/api/things", (routes) => {
      routes.get("/events", () => "events");
      routes.get("/:id", () => "one");
      routes.delete("/:id", () => "gone");
    });
    for (const [method, url, expected] of [
      ["GET", "/api/things/events", "200 events"],
      ["DELETE", "/api/things/events", "405 GET, HEAD"],
      ["DELETE", "/api/things/other", "200 gone"],
      ["PUT", "/api/things/events", "405 GET, HEAD"],
      ["PUT", "/api/things/other", "405 DELETE, GET, HEAD"],
    ] as const)
      assert.equal(await answerTo(app, method, url), expected, `${method} ${url}`);
    await app.close();
  });

  it("may lie below no prefix", async () => {
    const app = await serve("", (routes) => {
      routes.get("/", () => "root");
      routes.get("/health", () => "ok");
    });
    for (const [method, url, expected] of [
      ["GET", "/", "200 root"],
      ["POST", "/", "405 GET, HEAD"],
      ["POST", "/health", "405 GET, HEAD"],
      ["POST", "/healthy", "404"],
    ] as const)
      assert.equal(await answerTo(app, method, url), expected, `${method} ${url}`);
    await app.close();
  });
});
