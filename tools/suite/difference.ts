/** Where two values first differ, for a message that leads there. */
import { canonical, isObject, type Json } from "./json.ts";

const MAX_SHOWN = 60;

/** A JSON pointer below `at`, and what stands there on both sides. */
export function firstDifference(wanted: Json, got: Json, at: string): string {
  if (Array.isArray(wanted) && Array.isArray(got)) {
    for (const [index, item] of wanted.entries()) {
      const other = got[index];
      if (other !== undefined && !isEqual(item, other)) return firstDifference(item, other, `${at}/${index}`);
    }
    return `${at}: the case has ${wanted.length} items, production gives ${got.length}`;
  }
  if (isObject(wanted) && isObject(got)) {
    for (const [name, item] of Object.entries(wanted)) {
      const other = got[name];
      if (other !== undefined && !isEqual(item, other)) return firstDifference(item, other, `${at}/${name}`);
    }
  }
  return `${at}: the case has ${show(wanted)}, production gives ${show(got)}`;
}

function isEqual(left: Json, right: Json): boolean {
  return canonical(left) === canonical(right);
}

function show(value: Json): string {
  const text = JSON.stringify(value);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN - 3)}...`;
}
