/**
 * Answers a request that has no route: 405 with `Allow` where its path has other
 * methods, else 404.
 *
 * A route for each method that a path lacks would do the same. That is 30 routes
 * for each path: 65 ms of each start, and 4 MB.
 */
import findMyWay from "find-my-way";
import type { FastifyInstance, FastifyReply } from "fastify";
import { Refusal } from "../shared/refusal.ts";

/** One stands for all: each path is known once, with the methods that it has. */
const ANY = "GET";

export class KnownPaths {
  readonly #options;
  readonly #allowed;

  constructor(options: { maxParamLength: number }) {
    this.#options = options;
    // As Fastify's own, so that a path is the same here and there.
    this.#allowed = findMyWay(options);
  }

  /** Registers routes, and remembers the methods of each of their paths. */
  learn(app: FastifyInstance, addRoutes: () => void): void {
    const paths = new Map<string, Set<string>>();
    let isLearning = true;
    app.addHook("onRoute", ({ method, url }) => {
      if (!isLearning) return;
      // The collection has two URLs, with and without its slash; a route for `/` answers both.
      const path = url.slice(app.prefix.length).replace(/^$/, "/");
      const known = paths.get(path) ?? new Set();
      for (const one of [method].flat()) known.add(one);
      paths.set(path, known);
    });
    addRoutes();
    isLearning = false;
    for (const [path, known] of paths) {
      const store = { allow: [...known].sort().join(", ") };
      this.#allowed.on(ANY, app.prefix + path, ignore, store);
      if (path === "/" && app.prefix !== "") this.#allowed.on(ANY, app.prefix, ignore, store);
    }
    this.#refuseOthers(app, paths);
  }

  /** `/events` is a path of its own: where `/:id` has a method that it lacks, it is no id. */
  #refuseOthers(app: FastifyInstance, paths: ReadonlyMap<string, ReadonlySet<string>>): void {
    const ofMethods = new Map<string, ReturnType<typeof findMyWay>>();
    for (const [path, known] of paths) {
      for (const method of known) {
        const router = ofMethods.get(method) ?? findMyWay(this.#options);
        router.on(ANY, path, ignore);
        ofMethods.set(method, router);
      }
    }
    for (const [path, known] of paths) {
      const leadsElsewhere = (method: string) => ofMethods.get(method)?.find(ANY, path) != null;
      const method = [...ofMethods.keys()].filter((one) => !known.has(one) && leadsElsewhere(one));
      if (method.length === 0) continue;
      app.route({
        method,
        url: path,
        schema: { hide: true },
        // A hook of the route's own: it comes after the session check and before a body is read.
        onRequest: async (request, reply) => this.refuse(request.url, reply),
        handler: ignore,
      });
    }
  }

  /** @throws Refusal `method_not_allowed` or `not_found` */
  refuse(url: string, reply: FastifyReply): never {
    const found = this.#allowed.find(ANY, url);
    if (found === null) throw new Refusal("not_found");
    void reply.header("Allow", String(found.store.allow));
    throw new Refusal("method_not_allowed");
  }
}

function ignore(): void {}
