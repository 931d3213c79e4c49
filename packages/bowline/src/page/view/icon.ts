/** Decorative icons; their meaning is in the text beside them. */
import type { VNode } from "preact";
import { html } from "htm/preact";

const paths = {
  alert: "M12 4 2.8 20h18.4zM12 10v4.5M12 17.2v.3",
  check: "m5 12.5 4.5 4.5L19 7.5",
  chevron: "m9 6 6 6-6 6",
  close: "M6 6l12 12M18 6 6 18",
  copy: "M9 9h10v11H9zM5 15V4h10",
  dots: "M5.5 12h.01M12 12h.01M18.5 12h.01",
  down: "M12 5v14m-6-6 6 6 6-6",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  fork: "M7 4v16M7 13c0-4 9-2 9-6.5V6M13 8.5 16 5.5l3 3",
  image: "M4 5h16v14H4zM4 16l5-5 4.5 4.5 2-2L20 17M15.5 9h.01",
  key: "M14.5 9.5 21 3m-3 3 2.5 2.5M16 12a5 5 0 1 1-4-4 5 5 0 0 1 4 4z",
  leave: "M14 5h5v14h-5M4 12h10m-4-4 4 4-4 4",
  menu: "M4 7h16M4 12h16M4 17h16",
  note: "M5 4h14v11l-5 5H5zM14 20v-5h5M8.5 8.5h7M8.5 12h4",
  plus: "M12 5v14M5 12h14",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zm5 12 4.5 4.5",
  send: "M12 19V5m-6 6 6-6 6 6",
  stop: "M7.5 7.5h9v9h-9z",
  thought: "M12 4a7 6.5 0 0 0-4 11.8V19l3-1.6A7 6.5 0 1 0 12 4z",
  tool: "m5 7 4.5 5L5 17m7 0h7",
} as const;

export type IconName = keyof typeof paths;

export function icon(name: IconName): VNode {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d=${paths[name]} />
  </svg>`;
}

export function knot(): VNode {
  return html`<svg class="knot" viewBox="0 0 32 32" aria-hidden="true">
    <path
      d="M19 3v10M19 17v1c0 6-3 10.5-7.5 10.5S5 25.5 5 22s2.6-6 7-6h8.5c3 0 4.5-1.6 4.5-3.8S23.4 8.5 21 8.5h-4c-2.5 0-4 1.6-4 3.7 0 1 .3 1.9.9 2.6"
    />
  </svg>`;
}
