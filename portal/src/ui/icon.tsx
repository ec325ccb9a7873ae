/** Line icons of 16 units, drawn for the portal. */
const PATHS = {
  endpoints:
    "M6.5 9.5a3 3 0 0 0 4.3 0l2.3-2.4a3 3 0 0 0-4.3-4.2L8 3.7M9.5 6.5a3 3 0 0 0-4.3 0L2.9 8.9a3 3 0 0 0 4.3 4.2l.8-.8",
  log: "M2.5 4h11M2.5 8h11M2.5 12h6.5",
  test: "M6 2.5h4M7 2.5v4L3.3 12a1 1 0 0 0 .9 1.5h7.6a1 1 0 0 0 .9-1.5L9 6.5v-4M4.8 10h6.4",
  catalog:
    "M8 3.6C6.6 2.7 4.6 2.5 2.5 2.7v9.6c2.1-.2 4.1 0 5.5.9 1.4-.9 3.4-1.100 5.5-.9V2.700c-2.100-.2-4.100 0-5.500.9Zm0 0v9.6",
  key: "M9.800 6.200a2.700 2.700 0 1 1 0-.1Zm-1 1.900L13.500 8M11.500 8v2.300M5 6.100h.01",
  archive: "M2.500 3h11v3h-11zM3.500 6v7h9V6M6.500 9h3",
  audit:
    "M8 1.800 3 3.800v4c0 3 2.100 5.300 5 6.400 2.900-1.100 5-3.400 5-6.400v-4L8 1.800ZM6 8l1.500 1.500L10.300 6.500",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10Zm3.600-1.400L14 14",
  people:
    "M6 7.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5ZM1.500 13.500c.3-2.600 2-4 4.500-4s4.200 1.400 4.500 4M10.500 7.500a2.200 2.200 0 1 0-.5-4.300M11.800 9.700c1.600.4 2.500 1.700 2.700 3.600",
  plus: "M8 3v10M3 8h10",
  close: "M4 4l8 8M12 4l-8 8",
  check: "M3.500 8.500l3 3 6-7",
  alert:
    "M8 5.500v3.200M8 11v.01M7.100 2.500 1.700 12a1 1 0 0 0 .9 1.500h10.800a1 1 0 0 0 .9-1.500L8.900 2.500a1 1 0 0 0-1.800 0Z",
  more: "M3.500 8h.01M8 8h.01M12.500 8h.01",
  menu: "M2.500 4.500h11M2.500 8h11M2.500 11.500h11",
  display: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 2v12",
  copy: "M5.500 5.500v-3h8v8h-3M2.500 5.500h8v8h-8z",
  external: "M9 2.500h4.500V7M13.500 2.500 7.500 8.500M11.500 9v4.500h-9v-9H7",
  chevron: "M6 3.500 10.500 8 6 12.500",
  down: "M3.500 6 8 10.500 12.500 6",
  keyboard: "M1.500 4h13v8h-13zM4 6.500h.01M6.700 6.500h.01M9.300 6.500h.01M12 6.500h.01M4.500 9.500h7",
  leave: "M6.500 2.500h-4v11h4M10 4.800 13.200 8 10 11.200M13 8H6",
  retry: "M13.500 3v3.500H10M13.200 6.500A5.500 5.500 0 1 0 13.500 9",
  pause: "M5.500 3.500v9M10.500 3.500v9",
  play: "M4.500 3v10l8-5z",
  trash: "M3 4.500h10M6.500 4.500v-2h3v2M4.500 4.500l.5 9h6l.5-9",
  edit: "M10.500 3 13 5.500 5.500 13H3v-2.500zM9 4.500 11.500 7",
  send: "M14 2 7 9M14 2 9.500 14 7 9 2 6.500z",
  filter: "M2 3.500h12L9.500 8.500V13l-3-1.500v-3z",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 4.500V8l2.500 1.500",
  info: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 7.500V11M8 5v.01",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, className = "" }: { name: IconName; className?: string }) {
  return (
    <svg
      viewBox="0 0 16 16"
      aria-hidden
      className={`size-4 shrink-0 ${className}`}
      fill="none"
      stroke="currentColor"
      strokeWidth={name === "more" ? 2.2 : 1.4}
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
