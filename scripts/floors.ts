/** Arranges modules (called rooms) in levels (floors) by their imports. */
import { resolveRelative, type ImportGraph } from "./import-graph.ts";

/** The imports of each room or file. */
export type Arrows = ReadonlyMap<string, ReadonlySet<string>>;

export interface House {
  /** From the bottom up: the rooms of a floor import only rooms of lower floors. */
  readonly floors: readonly (readonly string[])[];
  /** Rooms that import each other, directly or through others. */
  readonly circles: readonly (readonly string[])[];
}

/** Returns the imports between files. */
export function arrowsOfFiles(graph: ImportGraph): Arrows {
  return arrows(graph, (file) => file);
}

/** Returns the imports between the rooms of one folder. A room is a subfolder or a file. */
export function arrowsOfRooms(graph: ImportGraph, place: string): Arrows {
  const start = place === "" ? "" : `${place}/`;
  return arrows(graph, (file) => {
    if (!file.startsWith(start)) return undefined;
    const [name = "", ...rest] = file.slice(start.length).split("/");
    return rest.length > 0 ? `${name}/` : name;
  });
}

export function drawHouse(drawn: Arrows): House {
  const groups = stronglyConnected(drawn);
  const groupOf = new Map(groups.flatMap((group) => group.map((room) => [room, group] as const)));
  const floorOf = new Map<readonly string[], number>();
  // Tarjan's algorithm returns each group after the groups that it imports.
  for (const group of groups) {
    const below = group
      .flatMap((room) => [...(drawn.get(room) ?? [])])
      .map((room) => groupOf.get(room))
      .filter((other) => other !== undefined && other !== group)
      .map((other) => floorOf.get(other as readonly string[]) ?? 0);
    floorOf.set(group, Math.max(-1, ...below) + 1);
  }
  const floors: string[][] = [];
  for (const [group, floor] of floorOf) (floors[floor] ??= []).push(...group);
  return {
    floors: floors.map((rooms) => rooms.toSorted()),
    circles: groups.filter((group) => group.length > 1),
  };
}

function arrows(graph: ImportGraph, roomOf: (file: string) => string | undefined): Arrows {
  const drawn = new Map<string, Set<string>>();
  for (const [file, specifiers] of graph) {
    const from = roomOf(file);
    if (from === undefined) continue;
    const imported = drawn.get(from) ?? new Set();
    drawn.set(from, imported);
    for (const specifier of specifiers) {
      const target = resolveRelative(file, specifier);
      const to = target === undefined || !graph.has(target) ? undefined : roomOf(target);
      if (to !== undefined && to !== from) imported.add(to);
    }
  }
  return drawn;
}

/** Tarjan's algorithm: returns the groups of rooms that reach each other, lower groups first. */
function stronglyConnected(drawn: Arrows): string[][] {
  const groups: string[][] = [];
  const stack: string[] = [];
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const visit = (room: string): number => {
    const own = order.size;
    order.set(room, own);
    lowest.set(room, own);
    stack.push(room);
    for (const next of drawn.get(room) ?? []) {
      const reached = order.has(next)
        ? stack.includes(next)
          ? order.get(next)
          : own
        : visit(next);
      lowest.set(room, Math.min(lowest.get(room) ?? own, reached ?? own));
    }
    if (lowest.get(room) === own) groups.push(stack.splice(stack.indexOf(room)));
    return lowest.get(room) ?? own;
  };
  for (const room of drawn.keys()) if (!order.has(room)) visit(room);
  return groups;
}
