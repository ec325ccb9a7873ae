const MAX = 120;
const END = 30;

/** A long text without its midst: a URL may have 2,000 characters, which as a title would be all that one sees. */
export function shortened(text: string): string {
  return text.length <= MAX ? text : `${text.slice(0, MAX - END - 1)}…${text.slice(-END)}`;
}
