/** Chromium as tests and measurements of the portal start it. */
import { chromium, type Browser } from "playwright-core";

export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}
