import type { JSX } from "preact";

/** Paths of 16 by 16 units. */
const SHAPES = {
  archive: "M2 3h12v3H2zM3 6v7h10V6M6 9h4",
  asks: "M2.5 3h11v8H8l-3.5 2.5V11h-2z",
  auto: "M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12",
  close: "M4 4l8 8M12 4l-8 8",
  closed: "M6 4l4 4-4 4",
  dark: "M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z",
  delete: "M3 4h10M6 4V2.5h4V4M4.5 4l.5 9.5h6l.5-9.5",
  light:
    "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1v2M8 13v2M1 8h2M13 8h2M3 3l1.4 1.4M11.6 11.6L13 13M13 3l-1.4 1.4M4.4 11.6L3 13",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  new: "M8 3v10M3 8h10",
  open: "M4 6l4 4 4-4",
  reads: "M4 2.5h5.5L12 5v8.5H4zM6 7.5h4M6 10h4",
  rename: "M3 13l.6-3L10.5 3 13 5.5 6 12.4z",
  runs: "M2.5 4.5L6 8l-3.5 3.5M8 12h5.5",
} as const;

export type IconName = keyof typeof SHAPES;

/** A picture beside a word or in a button that has a label: screen readers skip it. */
export function Icon({ name }: { readonly name: IconName }): JSX.Element {
  return (
    <svg
      class="icon"
      viewBox="0 0 16 16"
      width="16"
      height="16"
      aria-hidden="true"
      focusable="false"
    >
      <path d={SHAPES[name]} />
    </svg>
  );
}
