/** What `postern doctor` says of the intake's stream. */
import { setTimeout as delay } from "node:timers/promises";
import type { Config } from "../../config.ts";
import type { IntakePlace } from "../../intake/intake-url.ts";
import { CONSUMER, STREAM, type IntakeStream, type StreamStatus } from "../../intake/stream.ts";
import { messageOf } from "../../shared/message-of.ts";
import { makeLog } from "../../telemetry/log.ts";
import { counted, type Finding } from "./finding.ts";

const LIMIT_MS = 5000;
const PAUSE_MS = 100;
/** What the largest request may take in a message: its text is quoted once more. */
const LARGEST_MESSAGE_BYTES = 2 * 1024 * 1024;
const FIX_OF_NONE = `if it is full, start workers or raise its limit: nats stream edit ${STREAM} --max-bytes 50GB; else make it as docs/intake.md describes it`;

const check = "intake";

/** None without an intake. */
export async function checkIntake({ intake }: Pick<Config, "intake">): Promise<Finding[]> {
  if (intake === undefined) return [];
  const { openNatsStream } = await import("../../intake/nats-stream.ts");
  const stream = openNatsStream(intake, { name: "postern doctor", log: makeLog("silent"), makes: false });
  try {
    return findingsOf(await statusOf(stream), intake);
  } catch (error) {
    const fix =
      "check INTAKE_URL and its login, that the NATS servers run with JetStream, and that Postern was started once";
    return [{ check, status: "fail", detail: messageOf(error), fix }];
  } finally {
    await stream.close();
  }
}

/** Waits for a connection, which is made in the background. */
async function statusOf(stream: IntakeStream): Promise<StreamStatus> {
  const endsAt = performance.now() + LIMIT_MS;
  for (;;) {
    try {
      return await stream.status();
    } catch (error) {
      if (performance.now() > endsAt) throw error;
      await delay(PAUSE_MS);
    }
  }
}

function findingsOf(status: StreamStatus, { servers }: IntakePlace): Finding[] {
  const { replicas, current, leader, consumer, maxMessageBytes, takesNone } = status;
  const detail = describe(status);
  if (leader === null || current <= replicas / 2) {
    const fix = "start the missing NATS servers: without most of its replicas the stream takes nothing";
    return [{ check, status: "fail", detail, fix }];
  }
  const warnings: [detail: string, fix: string][] = [];
  if (consumer === "silent")
    warnings.push([`the consumer ${CONSUMER} does not answer`, "ask again: it may be electing a leader"]);
  if (consumer === "missing") {
    warnings.push([`there is no consumer ${CONSUMER}, so nothing is relayed`, "start a process of Postern"]);
  }
  if (current < replicas) {
    warnings.push([
      `${counted(replicas - current, "replica")} ${replicas - current === 1 ? "is" : "are"} behind or gone`,
      "start or repair their NATS servers",
    ]);
  }
  if (replicas < 3) {
    const fix =
      servers.length < 3
        ? "name three servers of one cluster in INTAKE_URL, and give the stream three replicas"
        : `give the stream three replicas: nats stream edit ${STREAM} --replicas 3`;
    const survive = replicas === 1 ? "does not survive" : "do not survive";
    warnings.push([`${counted(replicas, "replica")} ${survive} the loss of a server`, fix]);
  }
  if (maxMessageBytes < LARGEST_MESSAGE_BYTES) {
    const text = `the servers, or the stream, take messages of ${maxMessageBytes} bytes: larger requests are answered 413`;
    const fix = "set max_payload: 4MB on every NATS server, and no max_msg_size of the stream";
    warnings.push([text, fix]);
  }
  if (status.messages > 0 && status.taken === 0 && status.waiting === 0) {
    const fix = "give every worker INTAKE_URL; if they have it, see their logs";
    const wait =
      status.messages === 1 ? "waits, and no worker asks for it" : "wait, and no worker asks for them";
    warnings.push([`${counted(status.messages, "message")} ${wait}`, fix]);
  }
  const refusing: Finding[] =
    takesNone === null
      ? []
      : [{ check, status: "fail", detail: `the stream takes no events: ${takesNone}`, fix: FIX_OF_NONE }];
  const unsafe = status.unsafe.map((text): Finding => {
    const fix = `make the stream ${STREAM} as docs/intake.md describes it, or let Postern make it`;
    return {
      check,
      status: "fail",
      detail: `the stream may drop accepted events, or not hand them out: ${text}`,
      fix,
    };
  });
  return [
    { check, status: "ok", detail },
    ...refusing,
    ...unsafe,
    ...warnings.map(([text, fix]): Finding => ({ check, status: "warn", detail: text, fix })),
  ];
}

function describe({
  replicas,
  current,
  leader,
  messages,
  consumer,
  taken,
  oldestAtMs,
}: StreamStatus): string {
  const group = `${current} of ${counted(replicas, "replica")}, leader ${leader ?? "none"}`;
  const age = oldestAtMs === null ? "" : `, the oldest of ${new Date(oldestAtMs).toISOString()}`;
  const relay = consumer === "there" ? `${CONSUMER} with ${taken} taken` : consumer;
  return `stream ${STREAM}, ${group}; ${counted(messages, "message")}${age}; consumer ${relay}`;
}
