import assert from "node:assert/strict";
import type { Locator } from "playwright-core";

/** Chooses a quarter of its time, as with a mouse. */
export async function dragOver(chart: Locator): Promise<void> {
  const mouse = chart.page().mouse;
  const box = await chart.boundingBox();
  assert.ok(box !== null);
  await mouse.move(box.x + box.width / 4, box.y + 20);
  await mouse.down();
  await mouse.move(box.x + box.width / 2, box.y + 20, { steps: 4 });
  await mouse.up();
}
