// npm run layers: prints the modules of each package in levels, by the imports of its sources,
// including types. Fails on import cycles and on imports that scripts/layers.ts forbids.
import { globSync, readFileSync } from "node:fs";
import { arrowsOfFiles, arrowsOfRooms, drawHouse } from "./floors.ts";
import { findViolations, readGraph } from "./import-graph.ts";
import { packages } from "./layers.ts";

/** Folders that are printed separately, in addition to each package. */
const places: Readonly<Record<string, readonly string[]>> = {
  core: ["agent"],
  bowline: ["gateway"],
};

let problems = 0;

drawPackages();
for (const [name, rules] of Object.entries(packages)) {
  const graph = readGraph(rules.source, "ts");
  for (const place of ["", ...(places[name] ?? [])])
    draw(place === "" ? rules.source : `${rules.source}/${place}`, arrowsOfRooms(graph, place));
  for (const circle of drawHouse(arrowsOfFiles(graph)).circles)
    fail(`${rules.source}: files import each other: ${circle.join(", ")}`);
  for (const violation of findViolations(graph, rules, dependenciesOf(name)))
    fail(`${rules.source}/${violation}`);
}
if (problems > 0) process.exitCode = 1;
else console.log("No circle, and no import against scripts/layers.ts.");

/** Prints the packages in levels, by their declared dependencies. */
function drawPackages(): void {
  const folderOf = new Map(
    globSync("packages/*/package.json").map((file) => [
      (JSON.parse(readFileSync(file, "utf8")) as { name: string }).name,
      file.split("/")[1] ?? "",
    ]),
  );
  draw(
    "packages",
    new Map(
      [...folderOf.values()].map((folder) => [
        folder,
        new Set(dependenciesOf(folder).flatMap((name) => folderOf.get(name) ?? [])),
      ]),
    ),
  );
}

function draw(title: string, drawn: ReturnType<typeof arrowsOfRooms>): void {
  const { floors, circles } = drawHouse(drawn);
  const rooms = floors.flat().length;
  console.log(`${title}: ${rooms} rooms on ${floors.length} floors`);
  for (const [floor, names] of [...floors.entries()].toReversed())
    console.log(`${String(floor + 1).padStart(4)}  ${names.join("  ")}`);
  console.log("");
  for (const circle of circles) fail(`${title}: rooms import each other: ${circle.join(", ")}`);
}

function dependenciesOf(folder: string): string[] {
  const manifest = JSON.parse(readFileSync(`packages/${folder}/package.json`, "utf8")) as Record<
    string,
    Record<string, string> | undefined
  >;
  return Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
}

function fail(problem: string): void {
  problems += 1;
  console.log(problem);
}
