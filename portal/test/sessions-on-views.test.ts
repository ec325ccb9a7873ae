/** Each view as sessions see it that are not its owner's: another tenant's, one that may read only, one that has ended. */
import assert from "node:assert/strict";
import { it } from "node:test";
import type { Page } from "playwright-core";
import { describePortal, type Portal } from "./support/portal.ts";
import { deliveriesOf, prepare } from "./support/tenant.ts";

type View = {
  path: string;
  /** What shows an owner that the view is there. */
  owner: string;
  /** What another tenant's owner is told in its place. */
  stranger: string;
  /** What one is told who may read only; undefined where that is what the owner sees. */
  reader?: string;
  /** Buttons and links to a change that the owner has there: patterns of their names. */
  changes?: readonly string[];
};

const NOTE = "belongs-to-acme";

async function viewsOf(portal: Portal): Promise<View[]> {
  const [, fails] = await prepare(portal, "acme", 1);
  const [delivery] = await deliveriesOf(portal, "acme", `endpoint_id=${fails.id}&status=failed`);
  await portal.service.database.pool.query(
    `INSERT INTO postern.storage_exports (tenant_id, id, requested_by, from_at, to_at, status)
      VALUES ('acme', postern.uuid_v7(), 'ada', now() - interval '1 hour', now(), 'expired')`,
  );
  const absent = "Not found";
  const one = `/endpoints/${fails.id}`;
  return [
    {
      path: "/endpoints",
      owner: "/fails",
      stranger: "No endpoint yet",
      changes: ["Add endpoint", "Actions for .*"],
    },
    {
      path: "/endpoints/new",
      owner: "Create endpoint",
      stranger: "Create endpoint",
      reader: "You may not add endpoints",
      changes: ["Create endpoint"],
    },
    {
      path: one,
      owner: "The receiver failed",
      stranger: absent,
      changes: ["Edit", "Test", "New replay", "Send these again", "Actions for .*"],
    },
    {
      path: `${one}/edit`,
      owner: "More settings",
      stranger: absent,
      reader: "You may not change endpoints",
      changes: ["Save"],
    },
    {
      path: `${one}/test`,
      owner: "Send test",
      stranger: absent,
      reader: "You may not send tests",
      changes: ["Send test"],
    },
    {
      path: `${one}/secret`,
      owner: "Rotate the secret",
      stranger: absent,
      reader: "Only owners of your account may rotate the secret.",
      changes: ["Rotate secret"],
    },
    {
      path: "/log",
      owner: "That is all of this time.",
      stranger: "No deliveries in this time",
      changes: ["Export"],
    },
    {
      path: `/log?d=${delivery?.id}`,
      owner: NOTE,
      stranger: absent,
      changes: ["Send again", "To another endpoint …"],
    },
    { path: "/events?type=invoice.paid", owner: "/fails", stranger: "invoice.paid", changes: ["Test"] },
    {
      path: "/exports",
      owner: "Expired",
      stranger: "No export yet",
      changes: ["Request export", "Request again"],
    },
    { path: "/exports?view=files", owner: "Nothing is stored", stranger: "Nothing is stored" },
  ];
}

/** Buttons and links of these names. */
const named = (page: Page, names: readonly string[]) => {
  const name = new RegExp(`^(?:${names.join("|")})$`);
  return page.getByRole("button", { name }).or(page.getByRole("link", { name }));
};
const shows = (page: Page, text: string) => page.getByText(text).first().waitFor();

describePortal(
  "each view of the portal",
  {
    env: { RETRY_SCHEDULE: "0s", RATE_LIMIT_WRITES: "0" },
    respond: ({ path }) => ({ status: path === "/fails" ? 500 : 200, body: NOTE }),
  },
  (portal) => {
    let views: View[] = [];
    const visit = async (page: Page, { path }: View): Promise<void> => {
      await page.goto(`${portal().service.url}/portal${path}`);
    };

    it("shows its own to an owner, and nothing of it to another tenant", async () => {
      views = await viewsOf(portal());
      const owner = await portal().open("/endpoints");
      const stranger = await portal().open("/endpoints", {
        grant: { tenant_id: "stranger" },
        expects: /404 \(Not Found\)/,
      });
      for (const view of views) {
        await visit(owner.page, view);
        await shows(owner.page, view.owner);
        for (const name of view.changes ?? []) await named(owner.page, [name]).first().waitFor();
        await visit(stranger.page, view);
        await shows(stranger.page, view.stranger);
        const content = await stranger.page.content();
        for (const mark of ["/fails", "/works", NOTE]) {
          assert.ok(!content.includes(mark), `${view.path} shows a stranger ${mark}`);
        }
      }
      await stranger.inspect();
    });

    it("offers no change to who may read only", async () => {
      const changes = views.flatMap((view) => view.changes ?? []);
      for (const grant of [{ role: "member" }, { role: "owner", read_only: true }]) {
        const { page, inspect } = await portal().open("/endpoints", { grant });
        for (const view of views) {
          await visit(page, view);
          await shows(page, view.reader ?? view.owner);
          const found = await named(page, changes).allTextContents();
          assert.deepEqual(found, [], `${view.path} for ${JSON.stringify(grant)}`);
        }
        await inspect();
      }
    });

    it("says that a session has ended, and shows nothing more", async () => {
      for (const view of views) {
        const { page, inspect } = await portal().open(view.path, { expects: /status of 401/ });
        await shows(page, view.owner);
        const kept: unknown = await page.evaluate(
          'JSON.parse(sessionStorage.getItem("postern.session")).token',
        );
        const headers = { authorization: `Bearer ${String(kept)}` };
        // An open page may ask for something by itself, and would know of the end before it is opened anew.
        await page.goto("about:blank");
        await portal().service.call("DELETE", "/api/portal/sessions", { as: null, headers });
        await visit(page, view);
        await shows(page, "Your session has ended");
        assert.equal(await page.getByRole("navigation").count(), 0);
        if (view === views[0]) await inspect();
        await page.context().close();
      }
    });
  },
);
