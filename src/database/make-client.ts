/** Clients of `pg`, for one host or for the one of several that accepts writes. */
import { Client, type ClientConfig } from "pg";
import { cutOff, isCutOff } from "./cut-off.ts";
import { ConnectionRefusedError } from "./hosts/host-errors.ts";
import { askClient } from "./hosts/host-probe.ts";
import { requireHosts } from "./hosts/host-list.ts";
import { type Hosts, hostsOf } from "./hosts/hosts.ts";
import { noteAtOpening } from "./passing-errors.ts";
import { connectTo, type ServingRole } from "./session-settings.ts";

/** A server that is asked at a connect answers by then, or the connection fails. */
const ANSWER_LIMIT_MS = 3000;

type Connected = (error: Error | null, client?: Client) => void;
type Constructor = new (config?: ClientConfig) => Client;

/** What a pool or a client is made with: the URL's parameters with our settings, and the class that connects. */
export function clientFor(
  url: string,
  role: ServingRole | undefined,
): { Client: Constructor; connection: ReturnType<typeof connectTo> } {
  const hosts = hostsOf(url);
  if (hosts === null) return { Client: OpeningClient, connection: connectTo(url, role) };
  // Of the hosts' URLs only the host differs, and that is set at each connect.
  const [first] = requireHosts(url);
  return { Client: followingClient(hosts), connection: connectTo(first?.url ?? url, role) };
}

/** Of clients that could not be made, why: `pg` reads the files that the URL names, such as sslrootcert, for each anew. */
const unreadable = new WeakMap<Client, unknown>();

/** Notes why it could not connect. Its loss fails what runs on it, and never ends the process. */
class OpeningClient extends Client {
  constructor(config?: ClientConfig) {
    try {
      super(config);
    } catch (error) {
      // A pool that lost a connection makes another by itself for those who wait: nobody could catch the error there.
      super();
      unreadable.set(this, error);
    }
    // Without a listener the process would end: a server may end the connection with the very
    // words that open it, before whoever waits for it can listen.
    this.on("error", () => undefined);
  }

  override connect(): Promise<Client>;
  override connect(connected: Connected): void;
  override connect(connected?: Connected): Promise<Client> | void {
    const opening = this.open().catch((error: unknown) => {
      noteAtOpening(error);
      throw error;
    });
    if (connected === undefined) return opening;
    opening.then(
      () => connected(null, this),
      (error: unknown) => connected(error instanceof Error ? error : new Error(String(error))),
    );
  }

  protected async open(): Promise<Client> {
    if (unreadable.has(this)) throw unreadable.get(this);
    return super.connect();
  }
}

const classes = new WeakMap<Hosts, Constructor>();

function followingClient(hosts: Hosts): Constructor {
  const made = classes.get(hosts) ?? makeFollowingClient(hosts);
  classes.set(hosts, made);
  return made;
}

function makeFollowingClient(hosts: Hosts): Constructor {
  return class extends OpeningClient {
    protected override async open(): Promise<Client> {
      const probe = await hosts.pick();
      // The caller who waited for this connection has given up meanwhile.
      if (isCutOff(this)) throw new ConnectionRefusedError("the search for a host took too long");
      this.host = probe.address.host;
      this.port = probe.address.port;
      // By these the package finds the line of a password file.
      const parameters: unknown = Reflect.get(this, "connectionParameters");
      if (parameters instanceof Object) Object.assign(parameters, probe.address);
      try {
        await super.open();
        hosts.admit(this, probe, await askClient(this, ANSWER_LIMIT_MS));
        return this;
      } catch (error) {
        hosts.doubt();
        cutOff(this, new ConnectionRefusedError("the connection was given up"));
        throw error;
      }
    }
  };
}
