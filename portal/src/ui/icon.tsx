/** Line icons of 16 units, drawn for the portal. */
const PATHS = {
  endpoints:
    "M6.5 9.5a3 3 0 0 0 4.3 0l2.3-2.4a3 3 0 0 0-4.3-4.2L8 3.7M9.5 6.5a3 3 0 0 0-4.3 0L2.9 8.9a3 3 0 0 0 4.3 4.2l.8-.8",
  log: "M2.5 4h11M2.5 8h11M2.5 12h6.5",
  test: "M6 2.5h4M7 2.5v4L3.3 12a1 1 0 0 0 .9 1.5h7.6a1 1 0 0 0 .9-1.5L9 6.5v-4M4.8 10h6.4",
  catalog:
    "M8 3.6C6.6 2.7 4.6 2.5 2.5 2.7v9.6c2.1-.2 4.1 0 5.5.9 1.4-.9 3.4-1.1 5.5-.9V2.7c-2.1-.2-4.1 0-5.5.9Zm0 0v9.6",
  key: "M5 14a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM7.2 8.8 13.5 2.5M10.2 5.8l2.3 2.3M12.2 3.8l1.6 1.6",
  archive: "M2.5 3h11v3h-11zM3.5 6v7h9V6M6.5 9h3",
  audit: "M8 1.8 3 3.8v4c0 3 2.1 5.3 5 6.4 2.9-1.1 5-3.4 5-6.4v-4L8 1.8ZM6 8l1.5 1.5L10.3 6.5",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10Zm3.6-1.4L14 14",
  people:
    "M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM1.5 13.5c.3-2.6 2-4 4.5-4s4.2 1.4 4.5 4M10.5 7.5a2.2 2.2 0 1 0-.5-4.3M11.8 9.7c1.6.4 2.5 1.7 2.7 3.6",
  plus: "M8 3v10M3 8h10",
  close: "M4 4l8 8M12 4l-8 8",
  check: "M3.5 8.5l3 3 6-7",
  alert: "M8 5.5v3.2M8 11v.01M7.1 2.5 1.7 12a1 1 0 0 0 .9 1.5h10.8a1 1 0 0 0 .9-1.5L8.9 2.5a1 1 0 0 0-1.8 0Z",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  display: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 2v12",
  copy: "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z",
  external: "M9 2.5h4.5V7M13.5 2.5 7.5 8.5M11.5 9v4.5h-9v-9H7",
  chevron: "M6 3.5 10.5 8 6 12.5",
  down: "M3.5 6 8 10.5 12.5 6",
  up: "M3.5 10 8 5.5 12.5 10",
  keyboard: "M1.5 4h13v8h-13zM4 6.5h.01M6.7 6.5h.01M9.3 6.5h.01M12 6.5h.01M4.5 9.5h7",
  leave: "M6.5 2.5h-4v11h4M10 4.8 13.2 8 10 11.2M13 8H6",
  retry: "M13.5 3v3.5H10M13.2 6.5A5.5 5.5 0 1 0 13.5 9",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "M4.5 3v10l8-5z",
  trash: "M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.5 9h6l.5-9",
  download: "M8 2.5v8M4.5 7 8 10.5 11.5 7M2.5 13.5h11",
  lock: "M3.5 7h9v6.5h-9zM5.5 7V5a2.5 2.5 0 0 1 5 0v2",
  edit: "M10.5 3 13 5.5 5.5 13H3v-2.5zM9 4.5 11.5 7",
  send: "M14 2 7 9M14 2 9.5 14 7 9 2 6.5z",
  filter: "M2 3.5h12L9.5 8.5V13l-3-1.5v-3z",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 4.5V8l2.5 1.5",
  info: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 7.5V11M8 5v.01",
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
