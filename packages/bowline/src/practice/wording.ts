/** English for lists and numbers. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** "this folder" for the working directory, else the paths. */
export function toPlaces(places: readonly { readonly path: string }[]): string {
  return enumerate(places.map(({ path }) => (path === "." ? "this folder" : path)));
}

/** a, b and c */
export function enumerate(items: readonly string[], most = 12): string {
  const shown = items.length > most ? [...items.slice(0, most), `${items.length - most} more`] : items;
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
}

export function bullets(items: readonly string[], total: number = items.length): string {
  const rest = total - Math.min(items.length, 50);
  return [...items.slice(0, 50), ...(rest > 0 ? [`and ${rest} more`] : [])].map((item) => `- ${item}`).join("\n");
}

/** A code block; its fence is longer than any inside it. */
export function fence(text: string): string {
  const inside = [...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length);
  const ticks = "`".repeat(inside.reduce((longest, length) => Math.max(longest, length), 2) + 1);
  return `${ticks}\n${text.replace(/\n$/, "")}\n${ticks}`;
}

/** 4210 bytes (4.2 kB) */
export function toSize(bytes: number): string {
  if (bytes < 1000) return plural(bytes, "byte");
  return `${bytes} bytes (${bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`})`;
}
