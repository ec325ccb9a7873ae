/** A stopped series exits at once: only at an exit are its programs and servers ended, and its disks unmounted. */
export function exitOnSignal(): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
}
