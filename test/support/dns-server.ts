/**
 * A small DNS server for tests: UDP on 127.0.0.1, answers by script.
 *
 * It reads one question and writes answers by hand (RFC 1035 section 4); names
 * in answers are written out in full.
 */
import { createSocket } from "node:dgram";

export type DnsAnswer =
  /** Address records, after a CNAME to `alias` when there is one. */
  | { kind: "addresses"; addresses: readonly string[]; ttlSeconds?: number; alias?: string; delayMs?: number }
  | { kind: "nxdomain" }
  | { kind: "servfail" }
  /** The name exists, without records of the type asked for. */
  | { kind: "nodata" }
  /** Never answers. */
  | { kind: "silent" }
  /** Answers with bytes that are no message. */
  | { kind: "garbage" };

export type DnsType = "A" | "AAAA";

/** `index` counts the questions for this name and type from 0, so that answers can change. */
export type AnswerQuestion = (name: string, type: DnsType, index: number) => DnsAnswer;

export type DnsServer = {
  /** `127.0.0.1:port`, as a resolver takes it. */
  address: string;
  /** How often a name was asked for with a type. */
  questionCount(name: string, type: DnsType): number;
  close(): Promise<void>;
};

const TYPE_CODES: Record<DnsType, number> = { A: 1, AAAA: 28 };
const CNAME = 5;

export async function startDnsServer(answer: AnswerQuestion): Promise<DnsServer> {
  const counts = new Map<string, number>();
  const socket = createSocket("udp4");
  let isOpen = true;
  socket.on("message", (message, peer) => {
    const question = readQuestion(message);
    if (question === undefined) return;
    const key = `${question.name} ${question.type}`;
    const index = counts.get(key) ?? 0;
    counts.set(key, index + 1);
    const given = answer(question.name, question.type, index);
    const reply = writeReply(message, question, given);
    const send = (): void => {
      if (reply !== undefined && isOpen) socket.send(reply, peer.port, peer.address);
    };
    if (given.kind === "addresses" && given.delayMs !== undefined) setTimeout(send, given.delayMs).unref();
    else send();
  });
  await new Promise<void>((resolve) => {
    socket.bind(0, "127.0.0.1", resolve);
  });
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questionCount: (name, type) => counts.get(`${name} ${type}`) ?? 0,
    close: () => {
      isOpen = false;
      return new Promise((resolve) => {
        socket.close(() => resolve());
      });
    },
  };
}

/** Answers from a table of names to addresses; every other name is NXDOMAIN. */
export function answersFrom(table: Readonly<Record<string, readonly string[]>>): AnswerQuestion {
  return (name) => {
    const addresses = table[name];
    return addresses === undefined ? { kind: "nxdomain" } : { kind: "addresses", addresses };
  };
}

type Question = { name: string; type: DnsType; end: number };

function readQuestion(message: Buffer): Question | undefined {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += length + 1;
  }
  if (message.length < at + 5) return undefined;
  const code = message.readUInt16BE(at + 1);
  const end = at + 5;
  const name = labels.join(".").toLowerCase();
  if (code === TYPE_CODES.A) return { name, type: "A", end };
  return code === TYPE_CODES.AAAA ? { name, type: "AAAA", end } : undefined;
}

function writeReply(message: Buffer, question: Question, answer: DnsAnswer): Buffer | undefined {
  if (answer.kind === "silent") return undefined;
  if (answer.kind === "garbage") return Buffer.concat([message.subarray(0, 2), Buffer.from("garbage")]);
  const records = answer.kind === "addresses" ? recordsOf(question, answer) : [];
  const header = Buffer.alloc(12);
  message.copy(header, 0, 0, 2);
  const code = answer.kind === "nxdomain" ? 3 : answer.kind === "servfail" ? 2 : 0;
  header.writeUInt16BE(0x8180 | code, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, message.subarray(12, question.end), ...records]);
}

function recordsOf(question: Question, answer: Extract<DnsAnswer, { kind: "addresses" }>): Buffer[] {
  const ttl = answer.ttlSeconds ?? 60;
  const owner = answer.alias ?? question.name;
  const addresses = answer.addresses
    .filter((address) => address.includes(":") === (question.type === "AAAA"))
    .map((address) => record(owner, TYPE_CODES[question.type], ttl, addressBytes(address)));
  if (answer.alias === undefined) return addresses;
  return [record(question.name, CNAME, ttl, nameBytes(answer.alias)), ...addresses];
}

function record(name: string, type: number, ttl: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt32BE(ttl, 4);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([nameBytes(name), fixed, data]);
}

function nameBytes(name: string): Buffer {
  const labels = name
    .split(".")
    .map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

function addressBytes(address: string): Buffer {
  if (!address.includes(":")) return Buffer.from(address.split(".").map(Number));
  const [head = "", tail] = address.split("::");
  const before = ipv6GroupsOf(head);
  const after = ipv6GroupsOf(tail ?? "");
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0);
  return Buffer.from([...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 0xff]));
}

function ipv6GroupsOf(text: string): number[] {
  return text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
}
