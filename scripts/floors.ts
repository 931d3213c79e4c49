/** The rooms of a house and the floors that their imports put them on. */
import { resolveRelative, type ImportGraph } from "./import-graph.ts";

/** Which of its kind each room or file imports. */
export type Arrows = ReadonlyMap<string, ReadonlySet<string>>;

export interface House {
  /** From the ground up: the rooms of each floor import those of lower floors only. */
  readonly floors: readonly (readonly string[])[];
  /** Rooms that import each other, directly or by others. */
  readonly circles: readonly (readonly string[])[];
}

/** Each file by itself. */
export function arrowsOfFiles(graph: ImportGraph): Arrows {
  return arrows(graph, (file) => file);
}

/** The rooms of one folder of the graph: its folders, and its files each by itself. */
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
  // Tarjan's algorithm gives a group after all that it imports.
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

/** Tarjan's algorithm: groups of rooms that reach each other, those below first. */
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
